"""Our numbers beside the printed ones: Tables 3 and 4, and the readings of the redundancy rate."""

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from experiments.markdown import MISSING, number, table
from experiments.printed import (
    FIGURE5_RED,
    METHODS,
    SETS,
    TABLE3,
    TABLE4,
    Printed,
    deviation,
    verdict,
)
from experiments.redundancy import ACROSS
from experiments.summary import means, sets_in, sets_with_results, title_of
from experiments.tidy import TidyFile

#: The tables are about this many features.
M = 50
_TOGETHER = "m = 10 to 50, together"
_READING = "red: "
_EXPLAINED = (
    "*features*: two features are correlated over the samples of the part named; *samples*: two "
    "samples over the selected features; *scaled*: features divided by their standard deviation "
    "first; *across*: each sample, instead of each feature, is centred or standardised, over the "
    "selected features, before two features are compared. 1 is the mean over pairs, 1/2 the "
    "printed formula. Best in bold."
)


class Comparison:
    """One metric by set and method, beside a printed table.

    Parameters
    ----------
    frame : DataFrame
        Rows of the study "tables".
    metric : str
        What is compared.
    printed : dict
        Printed cells by set and method.
    m : int or None
        How many features; None for all numbers of features together.
    factor : float
        What our numbers are multiplied by.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        metric: str,
        printed: dict[tuple[str, str], Printed],
        *,
        m: int | None = M,
        factor: float = 1.0,
    ) -> None:
        self.printed = printed
        self.sets = sets_in(frame)
        found = means(frame if m is None else frame[frame["m"] == m], metric, ("data", "method"))
        found[["mean", "sd"]] *= factor
        if m is None:  # every run has a number for each m
            found["runs"] //= frame["m"].nunique()
        self.ours = {key: row for key, row in found.to_dict("index").items() if key[1] in METHODS}
        runs = Counter(row["runs"] for row in self.ours.values())
        self.usual = runs.most_common(1)[0][0] if runs else 0

    def deviation(self, name: str, method: str) -> float:
        """Return the difference in printed standard deviations; NaN if there is none."""
        ours = self.ours.get((name, method))
        return np.nan if ours is None else deviation(ours["mean"], self.printed.get((name, method)))

    def _own_cell(self, name: str, method: str) -> str:
        ours = self.ours.get((name, method))
        if ours is None:
            return MISSING
        runs = "" if ours["runs"] == self.usual else f"; {ours['runs']}"
        return f"{number(ours['mean'])} ({number(ours['sd'])}{runs})"

    def _printed_cell(self, name: str, method: str) -> str:
        cell = self.printed.get((name, method))
        return MISSING if cell is None else f"{number(cell.mean)} ({number(cell.sd)})"

    def _verdict_cell(self, name: str, method: str) -> str:
        if (name, method) not in self.ours:
            return MISSING
        words = verdict(self.deviation(name, method))
        return f"**{words}**" if words.startswith(("above", "below")) else words

    def _rows(self) -> Iterator[list[str]]:
        cells = {"ours": self._own_cell, "printed": self._printed_cell,
                 "verdict": self._verdict_cell}  # fmt: skip
        for name in self.sets:
            # a set that the paper does not have has only our row
            for label in cells if name in SETS else ("ours",):
                title = title_of(name) if label == "ours" else ""
                note = "" if name in SETS else " (not in the paper)"
                yield [title + note, label, *(cells[label](name, method) for method in METHODS)]

    def _summary(self, method: str) -> str:
        found = {name: self.deviation(name, method) for name in SETS}
        words = {name: verdict(value) for name, value in found.items() if not np.isnan(value)}
        if not words:
            return f"- {method}: no set with both numbers."
        within = sum(text.startswith("within") for text in words.values())
        line = f"- {method}: {within} of {len(words)} sets within one printed standard deviation"
        off = [f"{title_of(name)} {text}" for name, text in words.items() if text[:6] != "within"]
        return line + "".join(f"; {text}" for text in off) + "."

    def summary(self) -> list[str]:
        """Return a line for each method."""
        return [*(self._summary(method) for method in METHODS), ""]

    def table(self) -> list[str]:
        """Return the table, and how to read it."""
        legend = (
            f"Means over the runs (standard deviation; number of runs where it is not "
            f"{self.usual}). The verdict counts in printed standard deviations."
        )
        return [legend, "", *table(["set", "", *METHODS], self._rows())]

    def lines(self) -> list[str]:
        """Return the table and a summary for each method."""
        return [*self.table(), *self.summary()]

    def folded(self, title: str) -> list[str]:
        """Return the summary, and the table to unfold."""
        return [f"{title}:", "", *self.summary(), "<details><summary>The table</summary>", "",
                *self.table(), "</details>", ""]  # fmt: skip


def table3(file: TidyFile) -> list[str]:
    """Table 3: accuracy, and who selected fewer features than asked for."""
    frame = file.frame("tables")
    lines = Comparison(frame, "accuracy", TABLE3).lines()
    selected = means(frame, "selected", ("data", "method"))["mean"]
    few = [
        f"{method} on {title_of(name)} ({count:.1f} on average)"
        for (name, method), count in selected[selected < M].items()
        if method in METHODS
    ]
    return [*lines, f"Fewer than {M} features selected: {'; '.join(few)}.", ""] if few else lines


def table4(file: TidyFile) -> list[str]:
    """Table 4: the redundancy rate, as the mean over pairs of features on training samples."""
    return Comparison(file.frame("tables"), "red", TABLE4).lines()


def _readings(frame: pd.DataFrame) -> Iterator[tuple[list[str], pd.DataFrame, float]]:
    """Yield the words, the rows with the metric "red", and the factor of every reading.

    A set and a method with all readings have only those runs for which every reading was taken.
    """
    others = [name for name in frame["metric"].unique() if name.startswith(_READING)]
    if others:
        pair = ["data", "method"]
        taken = frame.loc[frame["metric"] == others[-1], [*pair, "run"]]
        tasks = pd.MultiIndex.from_frame(frame[[*pair, "run"]])
        without = ~pd.MultiIndex.from_frame(frame[pair]).isin(pd.MultiIndex.from_frame(taken[pair]))
        frame = frame[tasks.isin(pd.MultiIndex.from_frame(taken)) | without]
    for metric, (m, rows), (words, factor) in itertools.product(
        ("red", *others),
        ((str(M), frame[frame["m"] == M]), (_TOGETHER, frame)),
        (("1", 1.0), ("1/2", 0.5)),
    ):
        name = metric.removeprefix(_READING) if metric in others else "features, train"
        yield (
            [name, m.removeprefix("m = "), words],
            rows[rows["metric"] == metric].assign(metric="red"),
            factor,
        )


def _best_bold(head: list[str], rows: list[list], distances: list[float]) -> list[str]:
    """Return a table of readings with the nearest one in bold."""
    if not np.all(np.isnan(distances)):
        best = int(np.nanargmin(distances))
        rows[best] = [f"**{cell}**" for cell in rows[best]]
    return table(["reading", "m", "times", *head], rows)


def _cells(
    rows: pd.DataFrame, metric: str, printed: dict[tuple[str, str], Printed], factor: float = 1.0
) -> pd.DataFrame:
    """Our means and deviations that a printed table has too, and how far off the means are."""
    found = means(rows, metric, ("data", "method"))[["mean", "sd"]] * factor
    cells = pd.DataFrame(
        [(*key, *found.loc[key], cell.mean, cell.sd)
         for key, cell in printed.items() if key in found.index],
        columns=["data", "method", "ours", "our_sd", "printed", "sd"],
    )  # fmt: skip
    return cells.assign(off=(cells["ours"] - cells["printed"]).abs())


def _within(cells: pd.DataFrame) -> str:
    return f"{(cells['off'] <= cells['sd'] * (1 + 1e-9)).sum()} of {len(cells)}"


def pooled(file: TidyFile) -> list[str]:
    """Whether Table 3 is about 50 features, or about 10 to 50 together."""
    frame = file.frame("tables")
    frame = frame[frame["metric"] == "accuracy"]
    rows = []
    for words, part in ((f"m = {M}", frame[frame["m"] == M]), (_TOGETHER, frame)):
        cells = _cells(part, "accuracy", TABLE3)
        own = cells[cells["method"].isin(METHODS[:2])]
        off = [(found["off"].mean(), (found["our_sd"] - found["sd"]).abs().mean())
               for found in (own, cells)]  # fmt: skip
        rows.append([words, *(number(value) for pair in off for value in pair), _within(cells)])
    head = ["Table 3 read as", "HSIC and NOCCO Lasso: means", "their deviations"]
    head += ["all methods: means", "their deviations", "means within one sd"]
    lines = ["Mean absolute difference from what is printed:", "", *table(head, rows)]
    together = Comparison(frame, "accuracy", TABLE3, m=None)
    return lines + together.folded("Table 3 beside our accuracies with 10 to 50 features together")


def readings(file: TidyFile) -> list[str]:
    """How near each reading of the redundancy rate comes to the printed Table 4."""
    frame = file.frame("tables")
    names = [name for name in sets_with_results(frame) if name in SETS]
    lines, distances = [], []
    for words, rows, factor in _readings(frame):
        cells = _cells(rows, "red", TABLE4, factor)
        by_set = cells.groupby("data")["off"].mean()
        both = cells[["ours", "printed"]]
        close = both.corr().iloc[0, 1] if len(cells) > 2 and both.nunique().min() > 1 else np.nan
        each = [number(by_set.get(name, np.nan)) for name in names]
        distances.append(cells["off"].mean())
        own = [_within(cells[cells["method"] == method]) for method in METHODS[:2]]
        last = [number(distances[-1]), number(close, 2), _within(cells)]
        lines.append([*words, *each, *last, *own])
    head = [*map(title_of, names), "all cells", "correlation", "within one sd"]
    head += [f"{method} within" for method in METHODS[:2]]
    legend = "Mean absolute difference from the printed Table 4, over the methods that have both. "
    out = [legend + _EXPLAINED, "", *_best_bold(head, lines, distances)]
    for m, words in ((M, f"m = {M}"), (None, _TOGETHER)):
        across = Comparison(frame, _READING + ACROSS, TABLE4, m=m, factor=0.5)
        out += across.folded(f"Table 4 beside *{ACROSS}*, {words}, times 1/2")
    return out


def epsilon_readings(frame: pd.DataFrame, names: dict[str, str]) -> list[str]:
    """How near NOCCO Lasso comes to its column of Table 4, by epsilon and reading.

    `names` are the variants of the method in the frame, and the heads of their columns.
    """
    lines, distances = [], []
    for words, rows, factor in _readings(frame):
        variants = (rows[rows["method"] == name].assign(method="NOCCO Lasso") for name in names)
        each = [_cells(part, "red", TABLE4, factor) for part in variants]
        off = [cells["off"].mean() for cells in each]
        distances.append(np.nanmin(off) if not np.all(np.isnan(off)) else np.nan)
        counts = map(_within, each)
        lines.append([*words, *(f"{number(a)} / {b}" for a, b in zip(off, counts, strict=True))])
    legend = "Mean absolute difference from its column of Table 4 / sets within one printed sd:"
    return [legend, "", *_best_bold(list(names.values()), lines, distances)]


def figure5_red(frame: pd.DataFrame) -> list[str]:
    """The redundancy rates in the caption of Figure 5, and the readings of ours at m = 50."""
    lines: list[list] = []
    distances = []
    for words, rows, factor in _readings(frame):
        ours = means(rows, "red", ("method",))["mean"] * factor
        values = pd.Series(FIGURE5_RED.keys(), index=FIGURE5_RED).map(ours)
        distances.append((values - pd.Series(FIGURE5_RED)).abs().mean())
        lines.append([*words, *map(number, values), number(distances[-1])])
    lines.append(["printed", "", "", *(number(value, 2) for value in FIGURE5_RED.values()), ""])
    legend = "Redundancy rates beside the caption's. "
    head = [*FIGURE5_RED, "mean absolute difference"]
    return [legend + _EXPLAINED, "", *_best_bold(head, lines, distances)]
