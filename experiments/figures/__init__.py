"""The paper's figures in the paper's layout, from the tidy file of results."""

from pathlib import Path

import pandas as pd

from experiments.classification import GAUSSIAN_OUTPUT, at_width
from experiments.figure1 import FVM_COUNTED
from experiments.figures.panels import Curve, Panel, compose, curve, curves_by_method, save
from experiments.figures.styles import OUTPUT_KERNELS, WIDTHS
from experiments.printed import FIGURE5_RED, METHODS, SETS
from experiments.regression import SETS as RATS
from experiments.summary import OTHERS, STAND_IN, beside, methods_in, title_of
from experiments.tidy import TidyFile

__all__ = ["FIGURES", "write_figures"]

_RANKS = ("HSIC Lasso, ranks", "NOCCO Lasso, ranks")
_RECOVERY = (*METHODS, FVM_COUNTED, *_RANKS)
_FEATURES, _SAMPLES = "number of selected features", "number of training samples"
_ACCURACY, _FRACTION = "mean classification accuracy", "fraction of correctly selected features"


def figure1(file: TidyFile) -> list[Panel]:
    """Fraction of correctly selected features, and seconds."""
    found = file.frame("figure1")
    panels = []
    for name, title in (("Data1", "(a) Data1 (Additive model)"),
                        ("Data2", "(b) Data2 (Non-additive model)")):  # fmt: skip
        rows = found[found["data"] == name]
        lines = curves_by_method(rows, "fraction", "n", _RECOVERY)
        panels.append(Panel(title, lines, _SAMPLES, _FRACTION, errors=True, top=1.04))
    for study, x, title, words in (
        ("figure1c", "d", "(c) Computation time for Data2", "number of features"),
        ("figure1d", "n", "(d) Computation time of HSIC Lasso for Data2", _SAMPLES),
    ):
        rows = file.frame(study)
        lines = curves_by_method(rows, "seconds", x, methods_in(rows))
        panels.append(Panel(title, lines, words, "seconds", log=True))
    return panels


def _sixth(frame: pd.DataFrame) -> str:
    """The set of panel (f): the paper's, unless only the stand-in has results."""
    last = list(SETS)[-1]
    found = set(frame["data"])
    return STAND_IN if STAND_IN in found and last not in found else last


def _six(frame: pd.DataFrame, lines_of) -> list[Panel]:
    """One panel for each set; `lines_of` makes the curves of the rows of a set."""
    names = [*list(SETS)[:-1], _sixth(frame)]
    return [
        Panel(
            f"({letter}) {title_of(name)}",
            lines_of(frame[frame["data"] == name]),
            _FEATURES,
            _ACCURACY,
        )
        for letter, name in zip("abcdef", names, strict=True)
    ]


def figure2(file: TidyFile) -> list[Panel]:
    """Accuracy of the paper's methods."""
    return _six(file.frame("tables"), lambda rows: curves_by_method(rows, "accuracy", "m", METHODS))


def figure2_beyond(file: TidyFile) -> list[Panel]:
    """Accuracy of the other methods, beside HSIC Lasso."""
    shown = (METHODS[0], *OTHERS)
    return _six(file.frame("tables"), lambda rows: curves_by_method(rows, "accuracy", "m", shown))


def _by_name(rows: pd.DataFrame, metric: str, names: dict[str, tuple[str, dict]]) -> list[Curve]:
    """Curves against m of the methods that have results, under other labels and styles."""
    by_method = dict(list(rows[rows["metric"] == metric].groupby("method")))
    return [
        curve(by_method[name], metric, "m", label=label, style=style)
        for name, (label, style) in names.items()
        if name in by_method
    ]


def _by_width(method: str) -> dict[str, tuple[str, dict]]:
    return {
        method if width == 1 else at_width(width, method): (f"width {width:g}", style)
        for width, style in WIDTHS.items()
    }


def figure3(file: TidyFile) -> list[Panel]:
    """Accuracy of HSIC Lasso at several Gaussian widths."""
    rows = beside(file, "HSIC Lasso", "tables", "figure3")
    return _six(rows, lambda part: _by_name(part, "accuracy", _by_width("HSIC Lasso")))


def figure4(file: TidyFile) -> list[Panel]:
    """Accuracy of HSIC Lasso with a delta and with a Gaussian kernel on the labels."""
    names = dict(zip(("HSIC Lasso", GAUSSIAN_OUTPUT), OUTPUT_KERNELS.items(), strict=True))
    rows = beside(file, "HSIC Lasso", "tables", "figure4")
    return _six(rows, lambda part: _by_name(part, "accuracy", names))


def _rats(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Rows of one of the two sets of rat eyes, the paper's if it has results, and its features."""
    paper_last = [name for name in RATS if name in set(frame["data"])]
    if not paper_last:
        return frame, _FEATURES
    rows = frame[frame["data"] == paper_last[-1]]
    return rows, f"{_FEATURES} (of {rows['d'].iloc[0]:,})"


def figure5(file: TidyFile) -> list[Panel]:
    """Error and correlation on the rat eyes: methods, and widths."""
    panels = []
    words = (("mse", "MSE", "mean squared error"),
             ("correlation", "Mean correlation coefficient", "mean correlation"))  # fmt: skip
    rows, label_x = _rats(file.frame("figure5"))
    for (metric, title, label), letters in zip(words, ("abc", "def"), strict=True):
        lines = curves_by_method(rows, metric, "m", (*FIGURE5_RED, *_RANKS))
        panels.append(Panel(f"({letters[0]}) {title}", lines, label_x, label))
        for letter, method in zip(letters[1:], METHODS, strict=False):
            part, _ = _rats(beside(file, method, "figure5", "figure5 widths"))
            lines = _by_name(part, metric, _by_width(method))
            panels.append(Panel(f"({letter}) {title} ({method})", lines, label_x, label))
    return panels


def figure5_beyond(file: TidyFile) -> list[Panel]:
    """Error and correlation on the rat eyes of all other methods, beside HSIC Lasso."""
    shown = [name for name in (*METHODS, *OTHERS) if name not in FIGURE5_RED and name not in _RANKS]
    rows, label_x = _rats(file.frame("figure5"))
    return [
        Panel(title, curves_by_method(rows, metric, "m", ["HSIC Lasso", *shown]), label_x, label)
        for metric, title, label in (
            ("mse", "(a) MSE", "mean squared error"),
            ("correlation", "(b) Mean correlation coefficient", "mean correlation"),
        )
    ]


#: What is drawn: the panels of a figure, how many stand side by side, and whether the panels of a
#: row have one vertical axis.
FIGURES = {
    "figure1": (figure1, 2, False),
    "figure2": (figure2, 3, False),
    "figure2_beyond": (figure2_beyond, 3, False),
    "figure3": (figure3, 3, False),
    "figure4": (figure4, 3, False),
    "figure5": (figure5, 3, True),
    "figure5_beyond": (figure5_beyond, 2, False),
}


def write_figures(file: TidyFile, folder: Path) -> list[Path]:
    """Write every figure as PNG and PDF; what has no results yet says so."""
    return [
        path
        for name, (panels, columns, share) in FIGURES.items()
        for path in save(compose(panels(file), columns, share), folder, name)
    ]
