"""A figure as panels of curves: how they are laid out, drawn and saved."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.styles import of_method
from experiments.summary import counts, means
from hsiclasso.data.atomic import write_atomically
from hsiclasso.plots.drawing import INK, SMALL, TEXT, new_figure, tidy


@dataclass(frozen=True)
class Curve:
    """A line: its name in the legend, its style, and mean, se and runs indexed by x."""

    label: str
    style: dict[str, Any]
    points: pd.DataFrame


@dataclass(frozen=True)
class Panel:
    """Axes of a figure.

    Attributes
    ----------
    title, curves, x, y
        Words and lines; a panel without lines says that there are no results.
    log
        Whether the vertical axis is logarithmic.
    errors
        Whether standard errors are drawn.
    top
        End of the vertical axis, which then starts at zero.
    """

    title: str
    curves: list[Curve]
    x: str
    y: str
    log: bool = False
    errors: bool = False
    top: float | None = None

    @property
    def kind(self) -> tuple:
        """Panels of one kind show the same runs of the same study."""
        return self.x, self.log, self.errors


def curve(frame: pd.DataFrame, metric: str, x: str, **look: Any) -> Curve:
    """Make a curve of all rows of a frame that hold the metric."""
    return Curve(points=means(frame, metric, [x]), **look)


def curves_by_method(
    frame: pd.DataFrame, metric: str, x: str, methods: Iterable[str]
) -> list[Curve]:
    """Make the curves of the methods that have results."""
    rows = frame[frame["metric"] == metric]
    by_method = dict(list(rows.groupby("method")))
    return [
        curve(by_method[name], metric, x, label=name, style=of_method(name))
        for name in methods
        if name in by_method
    ]


def compose(panels: list[Panel], columns: int, share: bool = False) -> Figure:
    """Draw panels in rows, perhaps with one vertical axis for all, and one legend below them."""
    rows = -(-len(panels) // columns)
    with mpl.rc_context({"font.size": TEXT}):
        figure = new_figure((4.0 * columns if columns > 2 else 10.5, 3.3 * rows + 1.0))
        figure.get_layout_engine().set(hspace=0.05, wspace=0.03)
        grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if share else "none")
        for place, (ax, panel) in enumerate(zip(grid.flat, panels, strict=True)):
            _draw(ax, panel)
            left = panels[place - 1] if place % columns else None
            if left is not None and left.y == panel.y:
                ax.set_ylabel("")
        _legend(figure, panels, 5 if columns > 2 else 4)
    return figure


def _draw(ax: Axes, panel: Panel) -> None:
    ax.set_title(panel.title, fontsize=TEXT, color=INK)
    tidy(ax, panel.x)
    ax.set_ylabel(panel.y, fontsize=TEXT, color=INK)
    if not panel.curves:
        ax.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
        ax.grid(visible=False)
        ax.text(0.5, 0.5, "no results", ha="center", va="center", transform=ax.transAxes)
        return
    for line in panel.curves:
        errors = line.points["se"].fillna(0.0) if panel.errors else None
        places = line.points.index.to_numpy(float)
        ax.errorbar(
            places, line.points["mean"], errors,
            label=line.label, capsize=2, elinewidth=0.9, **line.style,
        )  # fmt: skip
    ax.set_yscale("log" if panel.log else "linear")
    if panel.top is not None:
        ax.set_ylim(0, panel.top)
    ticks = np.unique([place for line in panel.curves for place in line.points.index])
    if len(np.unique(np.diff(ticks))) > 1:  # 100, 200, 500, 1000, ...
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def _legend(figure: Figure, panels: list[Panel], columns: int) -> None:
    """Name every line once, under a note on the runs."""
    handles = {}
    for ax in figure.axes:
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if not handles:
        return
    legend = figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", frameon=False,
        ncols=min(columns, len(handles)), title=runs_note(panels), handlelength=3,
    )  # fmt: skip
    legend.get_title().set(color="0.35", fontsize=SMALL, multialignment="center")


def runs_note(panels: list[Panel]) -> str:
    """Say how many runs the means are over, for each kind of panel, and which lines differ."""
    kinds: dict[tuple, list[Panel]] = {}
    for panel in panels:
        if panel.curves:
            kinds.setdefault(panel.kind, []).append(panel)
    notes = []
    for alike in kinds.values():
        letters = ", ".join(panel.title[:3] for panel in alike) + ": " if len(kinds) > 1 else ""
        notes.append(letters + _runs_of(alike))
    return "\n".join(notes)


def _runs_of(panels: list[Panel]) -> str:
    runs: dict[str, set[int]] = {}
    for panel in panels:
        for line in panel.curves:
            runs.setdefault(line.label, set()).update(line.points["runs"])
    by_count: dict[str, list[str]] = {}
    for label, found in runs.items():
        by_count.setdefault(counts(found), []).append(label)
    usual = max(by_count, key=lambda count: len(by_count[count]))
    note = "means" + " and standard errors" * panels[0].errors
    note += f" over {usual} run{'s' * (usual != '1')}"
    # semicolons, since names of methods have commas
    return note + "".join(
        f"; {'; '.join(names)}: {count}" for count, names in by_count.items() if count != usual
    )


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and PDF; equal figures are equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
    written = []
    for suffix, entries in metadata.items():
        buffer = io.BytesIO()
        with mpl.rc_context({"pdf.fonttype": 42}):
            figure.savefig(buffer, format=suffix, dpi=150, metadata=entries)
        written.append(folder / f"{name}.{suffix}")
        write_atomically(written[-1], buffer.getvalue())
    return written
