"""``python -m reliability.page`` makes ``docs/reliability.md`` from the records of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reliability import records
from reliability.records import ROOT

PAGE = ROOT / "docs" / "reliability.md"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of a table."""
    head = [*head]
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def _on(record: dict[str, Any]) -> str:
    on = record["on"]
    return (
        f"{on['system']}, Python {on['python']}, NumPy {on['numpy']}, SciPy {on['scipy']}, "
        f"scikit-learn {on['scikit-learn']}, Numba {on['numba']}"
    )


def _fuzz() -> Iterator[str]:
    record = records.load("fuzz")
    answers = record["answers"]
    total = sum(sum(counts.values()) for counts in answers.values())
    bad = sum(record["defects"].values())
    yield "## Damaged files"
    yield (
        f"{total:,} damaged files in {record['minutes']} minutes through {len(answers)} readers, "
        f"seed {record['seed']}: {bad:,} without an answer (an error of another library, "
        f"exhausted memory, a crash, a hang). The slowest case took {record['slowest_seconds']} s. "
        "A case is a small valid file with bits flipped, bytes cut, moved or replaced, or numbers "
        "of its header changed, also inside compressed members whose checksums agree."
    )
    yield from table(
        ("reader", "cases", "read all the same", "refused with a reason", "no answer"),
        (
            (name, sum(counts.values()), counts.get("read", 0), counts.get("refused", 0),
             sum(n for answer, n in counts.items() if answer not in ("read", "refused")))
            for name, counts in answers.items()
        ),
    )  # fmt: skip
    if bad:
        yield "What came instead:"
        yield from (f"- {words}: {count}" for words, count in record["defects"].items())
    yield "Repeat it with `python -m reliability.fuzz --minutes 10 --seed 1`."


def _faults() -> Iterator[str]:
    record = records.load("faults")
    yield "## An error at every write"
    counts = {name: one["answers"] for name, one in record["writers"].items()}
    total = sum(sum(answers.values()) for answers in counts.values())
    wrong = [words for one in record["writers"].values() for words in one["wrong"]]
    yield (
        f"{total:,} runs: the n-th call that opens, renames, removes or makes a file fails, or the "
        "process ends there as by kill -9, for all n; and no file may grow beyond so many bytes. "
        "Afterwards every file must be as it was or complete, nothing else may be left (after kill "
        "-9: once the command is given again), the error must be one line, and the same command "
        f"must give the same result: {len(wrong)} times it was not so."
    )
    kinds = [*dict.fromkeys(key.split(": ")[0] for answers in counts.values() for key in answers)]
    yield from table(
        ("what is written", *kinds),
        (
            (
                name,
                *(
                    sum(n for key, n in answers.items() if key.startswith(f"{kind}: "))
                    for kind in kinds
                ),
            )
            for name, answers in counts.items()
        ),
    )
    yield from (f"- {words}" for words in wrong)
    yield "Repeat it with `python -m reliability.faults`."


def _kills() -> Iterator[str]:
    record = records.load("kills")
    yield "## kill -9 at random moments"
    yield (
        "A selection is killed at random moments, then started again under the same or another "
        "locale, time zone and clock (ten years back). No file may be half-written, no process may "
        "stay, and the answer must be the same, byte for byte."
    )
    yield from table(
        ("scenario", "seconds of work", "moments", "killed before the end", "wrong"),
        (
            (name, one["seconds_of_work"], one["points"], one["killed"], len(one["wrong"]))
            for name, one in record["scenarios"].items()
        ),
    )
    yield from (f"- {words}" for one in record["scenarios"].values() for words in one["wrong"])
    yield "Repeat it with `python -m reliability.kills`."


def _cpus() -> Iterator[str]:
    record = records.load("cpus")
    yield "## The same features on every CPU"
    yield (
        f"{record['fits']} fits in every way below must select the same features in the same "
        f"order, with weights that differ by at most {record['tolerance']:g} of the largest."
    )
    yield from table(
        ("way", "linear algebra", "largest difference", "fits that differ by more"),
        (
            (
                name,
                ", ".join(way["blas"]),
                f"{way['largest']:.0e}",
                "; ".join(way["differing"]) or "none",
            )
            for name, way in record["ways"].items()
        ),
    )
    yield "Repeat it with `python -m reliability.cpus --generic`."


def _load() -> Iterator[str]:
    record = records.load("load")
    cases = record["cases"]
    yield "## Load"
    yield "Seconds are wall time, whatever else the machine did."
    yield from table(
        ("fits at once", "fits", "seconds", "answers that differ", "MB grown in either half",
         "threads of BLAS restored"),
        (
            (f"{one['workers']} {name}", one["fits"], one["seconds"], one["other_answers"],
             f"{one['MB_grown_in_first_half']}, {one['MB_grown_in_second_half']}",
             "yes" if one["blas_threads_restored"] else "no")
            for name, one in cases.items()
            if "fits" in one
        ),
    )  # fmt: skip
    yield ""
    yield from table(
        ("table", "answer", "seconds", "MB of the table", "MB beyond it"),
        (
            (_SHAPES[name], one["answer"], one["seconds"], one["MB_of_the_table"],
             one["MB_beyond_the_table"])
            for name, one in cases.items()
            if "answer" in one
        ),
    )  # fmt: skip
    yield "Repeat it with `python -m reliability.load`."


_SHAPES = {
    "wide": "10^6 features, 3 samples",
    "tall": "3 features, 10^7 samples",
    "classes": "2,000 classes",
    "labels": "a column of 10^5 categories",
}


def _mutants() -> Iterator[str]:
    record = records.load("mutants")
    samples = record["samples"]
    yield "## Mutants"
    seeds = " and ".join(str(one["seed"]) for one in samples)
    yield (
        "A mutant has one comparison, operator, constant or condition of the code changed; a test "
        f"should fail. They were drawn at random, with the seeds {seeds}, and met the tests of "
        "their file, of its station and of some selectors. Survivors were then looked at one by "
        "one: most are killed since, by new tests or by tests that were not among these; others "
        "change no answer."
    )
    yield from table(
        ("station", "mutants", "killed at first sight", "killed since", "change no answer",
         "survive", "score"),
        (_of_station(record, station) for station in samples[0]["stations"]),
    )  # fmt: skip
    yield "The score leaves out those that change no answer:"
    yield from (f"- `{name}`: {reason}" for name, reason in record["explained"].items())
    yield "Repeat it with `python -m reliability.mutants`."


def _of_station(record: dict[str, Any], station: str) -> tuple[object, ...]:
    """Return the row of a station."""
    samples = [one["stations"][station] for one in record["samples"]]
    number = sum(one["mutants"] for one in samples)
    first = sum(sum(one["killed_by"].values()) for one in samples)
    survivors = [name for one in samples for name in one["survivors"]]
    since = sum(name in record["killed_since"] for name in survivors)
    explained = sum(name in record["explained"] for name in survivors)
    score = (first + since) / max(1, number - explained)
    left = number - first - since - explained
    share = f"{first} ({first / max(1, number):.0%})"
    return station, number, share, since, explained, left, f"{score:.0%}"


_SECTIONS = {
    "fuzz": _fuzz, "faults": _faults, "kills": _kills, "cpus": _cpus, "load": _load,
    "mutants": _mutants,
}  # fmt: skip


def page() -> str:
    """Return the page."""
    parts = [
        "# How reliable it is",
        "",
        "Figures of runs that try to break the package. This page is made from their records by "
        "`python -m reliability.page`; the test command runs a small part of each.",
    ]
    for name, section in _SECTIONS.items():
        if records.has(name):
            lines = [*section(), f"On {_on(records.load(name))}."]
            parts += _paragraphs(lines)
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, with an empty one between those that are not of one table or list."""
    last = ""
    for line in lines:
        if not (line[:1] == last[:1] and line[:1] in ("|", "-")):
            yield ""
        yield line
        last = line


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
