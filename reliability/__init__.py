"""What keeps the package reliable: fuzzing, torture, CPUs, load, mutants, and the page about it."""
