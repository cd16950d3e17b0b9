"""The comparison as Markdown, written between the marks of a page."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.blocks import blocks_table
from experiments.classification import EPSILONS, GAUSSIAN_OUTPUT, WIDTHS, at_epsilon, at_width
from experiments.comparison import (
    M,
    epsilon_readings,
    figure5_red,
    pooled,
    readings,
    table3,
    table4,
)
from experiments.markdown import MISSING, fill, number, seconds, table
from experiments.nocco_epsilon import epsilon_table
from experiments.printed import TABLE3, TABLE4
from experiments.runner import duration
from experiments.summary import (
    beside,
    counts,
    means,
    methods_in,
    sets_in,
    sets_with_results,
    title_of,
)
from experiments.tidy import TASK_SECONDS, TidyFile

_NONE = ["No results yet.", ""]


def _grid(
    frame: pd.DataFrame, metric: str, x: str, write: Callable[[float], str], corner: str
) -> list[str]:
    """Table of methods by the values of a column: means, and runs."""
    found = means(frame, metric, ("method", x))
    if found.empty:
        return _NONE
    columns = sorted(set(found.index.get_level_values(x)))
    rows = []
    for method in methods_in(frame):
        cells = [found["mean"].get((method, value), np.nan) for value in columns]
        runs = counts(found.loc[method]["runs"])
        rows.append([method, *map(write, cells), runs])
    return table([corner, *columns, "runs"], rows)


def figure1(file: TidyFile) -> list[str]:
    """Fractions by method and number of samples, and what the choice of the penalty changes."""
    frame = file.frame("figure1")
    lines = []
    for name in ("Data1", "Data2"):
        rows = frame[frame["data"] == name]
        lines += _grid(rows, "fraction", "n", lambda value: number(value, 2), f"{name}, n =")
    by = ("data", "method", "n")
    taken, low, high = (means(frame, k, by)["mean"] for k in ("fraction", "lowest", "highest"))
    if len(low) and len(high):
        lines += [
            "Over all penalties that the rule admits, the mean of the lowest fraction is at most "
            f"{number((taken - low).max(), 2)} below these tables, that of the highest at most "
            f"{number((high - taken).max(), 2)} above.",
            "",
        ]
    return lines


def nocco_epsilon(file: TidyFile) -> list[str]:
    """What NOCCO Lasso recovers on some cases of Figure 1, by epsilon."""
    frame = pd.concat([file.frame("figure1"), file.frame("figure1 epsilon")])
    if frame.empty:
        return _NONE
    found = epsilon_table(frame).rename(columns={"NOCCO Lasso": "epsilon 0.001"})
    found = found.rename(columns=lambda name: name.removeprefix("NOCCO Lasso, "))
    rows = [[case, *(number(value, 2) for value in line)] for case, line in found.iterrows()]
    return table(["NOCCO Lasso", *found.columns], rows)


def times(file: TidyFile) -> list[str]:
    """Seconds of Figures 1(c) and 1(d)."""
    lines = ["(c) Data2, n = 100, mean seconds on one thread:", ""]
    lines += _grid(file.frame("figure1c"), "seconds", "d", seconds, "d =")
    lines += ["(d) HSIC Lasso on Data2, mean seconds on one thread:", ""]
    return lines + _grid(file.frame("figure1d"), "seconds", "n", seconds, "n =")


def figure5(file: TidyFile) -> list[str]:
    """Error, correlation and redundancy on the rat eyes."""
    frame = file.frame("figure5")
    lines = []
    for name, rows in frame.groupby("data"):
        title = f"{title_of(name)}, {rows['d'].iloc[0]:,} features"
        lines += [f"{title}, mean squared error:", ""]
        lines += _grid(rows, "mse", "m", lambda value: number(value, 4), "m =")
        lines += [f"{title}, mean correlation of predicted and true values:", ""]
        lines += _grid(rows, "correlation", "m", number, "m =")
        lines += figure5_red(rows)
    return lines or _NONE


def _pairs(
    found: tuple[pd.Series, pd.Series], rows: Iterable, columns: Iterable, writers: tuple
) -> list[list[str]]:
    """Cells "first / second" for every row and column; `found` are indexed by (column, row)."""
    first, second = found
    write_first, write_second = writers
    return [
        [
            f"{write_first(first[key])} / {write_second(second.get(key, np.nan))}"
            if (key := (column, row)) in first.index
            else MISSING
            for column in columns
        ]
        for row in rows
    ]


def beyond(file: TidyFile) -> list[str]:
    """All methods, the paper's and others, side by side on the sets of Tables 3 and 4."""
    frame = file.frame("tables")
    if frame.empty:
        return _NONE
    sets, methods, by = sets_with_results(frame), methods_in(frame), ("data", "method")
    first, last = (means(frame[frame["m"] == m], "accuracy", by) for m in (10, M))
    red = means(frame[frame["m"] == M], "red", by)["mean"]
    # one run of a process compiles the loops, unless they are in Numba's cache
    spent = means(frame, "seconds", by)["median"]
    runs = last["runs"].groupby("method").agg(counts)
    head = ["method", *map(title_of, sets), "runs"]
    lines = []
    for words, found, write in (
        (f"Accuracy with 10 / with {M} features", (first["mean"], last["mean"]), number),
        (f"Redundancy rate of {M} features / median seconds to select them", (red, spent), seconds),
    ):
        cells = _pairs(found, methods, sets, (number, write))
        rows = [[method, *line, runs[method]] for method, line in zip(methods, cells, strict=True)]
        lines += [f"{words}:", "", *table(head, rows)]
    return lines


def _variants(
    frame: pd.DataFrame,
    names: dict[str, str],
    metrics: tuple[tuple[str, int], ...],
    digits: int = 3,
) -> list[list[str]]:
    """Rows of sets: two means of each variant, and the runs that all variants share.

    `metrics` are two pairs of a metric and m; `digits` are those of the first.
    """
    found = tuple(
        means(frame[frame["m"] == m], metric, ("method", "data"))["mean"] for metric, m in metrics
    )
    sets = sets_with_results(frame)
    writers = (lambda value: number(value, digits), number)
    cells = _pairs(found, sets, names, writers)
    runs = frame.groupby("data")["run"].nunique()
    return [[title_of(name), *line, runs[name]] for name, line in zip(sets, cells, strict=True)]


def _widths(method: str) -> dict[str, str]:
    """Methods by width, and how their columns are headed."""
    names = {1.0: method} | {width: at_width(width, method) for width in WIDTHS}
    return {names[width]: f"width {width:g}" for width in sorted(names)}


def widths(file: TidyFile) -> list[str]:
    """Figure 3 and the widths of Figure 5: every width on the same splits."""
    names = _widths("HSIC Lasso")
    rows = _variants(
        beside(file, "HSIC Lasso", "tables", "figure3"), names, (("accuracy", 10), ("accuracy", M))
    )
    lines = ["HSIC Lasso, accuracy with 10 / with 50 features, on the same splits:", ""]
    lines += table(["set", *names.values(), "runs"], rows) if rows else _NONE
    lines += [
        "Rat eyes, mean squared error / correlation with 50 features, on the same splits:",
        "",
    ]
    rows = []
    for method in ("HSIC Lasso", "NOCCO Lasso"):
        frame = beside(file, method, "figure5", "figure5 widths")
        found = _variants(frame, _widths(method), (("mse", M), ("correlation", M)), digits=4)
        rows += [[f"{method}, {line[0]}", *line[1:]] for line in found]
    return lines + (table(["method", *names.values(), "runs"], rows) if rows else _NONE)


def output_kernel(file: TidyFile) -> list[str]:
    """Figure 4: both kernels on the same splits."""
    names = {"HSIC Lasso": "delta kernel", GAUSSIAN_OUTPUT: "Gaussian kernel"}
    frame = beside(file, "HSIC Lasso", "tables", "figure4")
    rows = _variants(frame, names, (("accuracy", 10), ("accuracy", M)))
    lines = ["HSIC Lasso, accuracy with 10 / with 50 features, on the same splits:", ""]
    return lines + (table(["set", *names.values(), "runs"], rows) if rows else _NONE)


def epsilon(file: TidyFile) -> list[str]:
    """NOCCO Lasso at other epsilons, on the same splits, beside what is printed for 1e-3."""
    names = {"NOCCO Lasso": "epsilon 0.001"}
    names |= {at_epsilon(value): f"epsilon {value:g}" for value in EPSILONS}
    frame = beside(file, "NOCCO Lasso", "tables", "epsilon")
    rows = _variants(frame, names, (("accuracy", M), ("red", M)))
    titles = {title_of(name): (name, "NOCCO Lasso") for name in sets_in(frame)}
    for row in rows:
        cells = [printed.get(titles[row[0]]) for printed in (TABLE3, TABLE4)]
        row.append(" / ".join(MISSING if cell is None else number(cell.mean) for cell in cells))
    lines = ["NOCCO Lasso, accuracy / redundancy rate with 50 features, on the same splits:", ""]
    if not rows:
        return lines + _NONE
    lines += table(["set", *names.values(), "runs", "printed"], rows)
    return lines + epsilon_readings(frame, names)


def runs(file: TidyFile) -> list[str]:
    """What the file holds, the seeds, and the command that made it."""
    rows, total = [], 0.0
    for study in sorted({group[0] for group in file.task_seconds()}):
        frame = file.frame(study)
        each = frame.groupby(["data", "method", "n", "d"])["run"].nunique()
        spent = frame.loc[frame["metric"] == TASK_SECONDS, "value"].sum()
        total += spent
        low, high = frame["seed"].min(), frame["seed"].max()
        rows.append([study, frame["data"].nunique(), frame["method"].nunique(), counts(each),
                     f"{low} to {high}", duration(spent) if spent else MISSING])  # fmt: skip
    rows.append(["in all", "", "", "", "", duration(total)])
    head = ["study", "sets", "methods", "runs", "seeds", "time on one core"]
    words = (
        f"Every number is in `{file.path.name}`, with the seed of its draw or split; `python -m "
        "experiments all` adds the runs that are not there yet."
    )
    return [words, "", *table(head, rows)] if len(rows) > 1 else _NONE


#: The blocks of the page, by the name in their marks.
BLOCKS: dict[str, Callable[[TidyFile], list[str]]] = {
    "figure1": figure1,
    "nocco-epsilon": nocco_epsilon,
    "times": times,
    "table3": table3,
    "pooled": pooled,
    "table4": table4,
    "readings": readings,
    "epsilon": epsilon,
    "widths": widths,
    "output-kernel": output_kernel,
    "figure5": figure5,
    "beyond": beyond,
    "blocks": lambda file: blocks_table(file.frame("blocks")),
    "runs": runs,
}


def write_page(file: TidyFile, page: Path) -> None:
    """Write every block between its marks; the text around them is left as it is."""
    fill(page, {name: "\n".join(block(file)) for name, block in BLOCKS.items()})
