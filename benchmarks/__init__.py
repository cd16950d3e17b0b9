"""Speed and memory, against peers, measured in one run."""
