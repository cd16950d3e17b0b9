"""What one part of the report consists of, and how its tables and figures are made."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"
_INK, _QUIET, _RULE = "#333333", "#C4C4C4", "#E6E6E6"


@dataclass(frozen=True)
class Section:
    """A part of the report: a title, paragraphs, and figures by file name."""

    title: str
    paragraphs: list[str]
    figures: dict[str, Figure] = field(default_factory=dict)

    def write(self, folder: Path) -> str:
        """Save the figures and return the text in Markdown."""
        for name, figure in self.figures.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=120)
            (folder / name).write_bytes(buffer.getvalue())
        return "\n\n".join([f"## {self.title}", *self.paragraphs])


def image(name: str, words: str) -> str:
    """Reference to a figure beside the report."""
    return f"![{words}]({name})"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5)


def with_error(values: Sequence[float], digits: int = 2) -> str:
    """Mean and its standard error as text."""
    mean, error = mean_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def panels(n: int, width: float = 4.9, height: float = 4.0) -> tuple[Figure, list[Axes]]:
    """Figure with axes side by side."""
    figure = Figure((width * n, height), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, n)))


def tidy(ax: Axes, x: str, y: str, title: str = "") -> None:
    """Label axes and give them thin rules."""
    ax.set_xlabel(x, color=_INK)
    ax.set_ylabel(y, color=_INK)
    ax.set_title(title, fontsize=11, color=_INK)
    ax.grid(color=_RULE, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_QUIET)


def curves(ax: Axes, x: Sequence[float], lines: dict[str, Sequence[Sequence[float]]]) -> None:
    """Draw one line per name: the mean of the runs at each x, with standard errors if several."""
    for i, (name, runs) in enumerate(lines.items()):
        several = len(runs[0]) > 1
        points = [mean_error(run) if several else (run[0], 0.0) for run in runs]
        means, errors = zip(*points, strict=True)
        step = 0.012 * (max(x) - min(x)) if several else 0.0
        shifted = np.array(x) + step * (i - (len(lines) - 1) / 2)
        style = {"color": COLOURS[i], "marker": _MARKERS[i], "ms": 5, "lw": 1.7}
        ax.errorbar(shifted, means, errors if several else None, label=name, capsize=2, **style)
    ax.set_xticks(x)


def legend_below(figure: Figure, ax: Axes, columns: int) -> None:
    """One legend for all panels, under them."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
