"""``hsiclasso demo``: the paper's two designs and a real table, on the terminal and as figures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.console import make_console, plain, show
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.console import Console

    from hsiclasso.data import Source
    from hsiclasso.selectors import SelectionResult

__all__ = ["demo"]

_SEED = 1


@dataclass(frozen=True)
class _Example:
    """A table to select features from; `causal` has the true columns if they are known."""

    title: str
    note: str
    stem: str
    source: Source
    y: Any
    n_features: int
    transform: Literal["rank"] | None = None
    causal: Any = None


@click.command()
@click.option(
    "--out-dir",
    type=click.Path(path_type=Path),
    default="hsiclasso-demo",
    show_default=True,
    help="Folder for the figures; created if it does not exist.",
)
def demo(out_dir: Path) -> None:
    """Run three examples and draw figures.

    The examples are the paper's Data1 and Data2, and a real table.
    """
    from hsiclasso.errors import require

    require("matplotlib.figure", "plots")
    if out_dir.exists() and not out_dir.is_dir():
        raise InvalidInputError(f"--out-dir {out_dir} is a file: give the name of a folder.")
    out_dir.mkdir(parents=True, exist_ok=True)
    console = make_console()
    _warm_up(console)
    written = [_run(example, out_dir, console) for example in _examples()]
    console.print("Figures written:")
    for path in written:
        click.echo(f"  {path}")


def _warm_up(console: Console) -> None:
    """Load the compiled loops, so that the times below do not include it."""
    from hsiclasso.data import as_source, make_data1

    begin = time.perf_counter()
    X, y, _ = make_data1(30, 8, random_state=_SEED)
    for target in (y, y > y.mean()):
        _select(as_source(X), target, 1)
    seconds = time.perf_counter() - begin
    console.print(f"Compiled code loaded in {seconds:.1f} s (compiled at the first run only).")


def _examples() -> Iterator[_Example]:
    from sklearn.datasets import load_breast_cancer

    from hsiclasso.data import as_source, make_data1, make_data2
    from hsiclasso.data.sources import ArraySource

    X, y, causal = make_data1(200, 256, random_state=_SEED)
    yield _Example(
        "Data1: additive",
        "y = -2 sin(2 x_a) + x_b^2 + x_c + exp(-x_d) + noise; 4 of 256 features are causal.",
        "data1", as_source(X), y, 6, causal=causal,
    )  # fmt: skip
    X, y, causal = make_data2(300, 1000, random_state=_SEED)
    formula = "y = x_a exp(2 x_b) + x_c^2 + noise; 3 of 1,000 features are causal."
    yield _Example(
        "Data2: not additive",
        f"{formula} The target has heavy tails, which can hide x_c.",
        "data2", as_source(X), y, 6, causal=causal,
    )  # fmt: skip
    yield _Example(
        "Data2, ranks of the target (--transform rank)",
        f"{formula} Ranks tame the tails.",
        "data2-rank", as_source(X), y, 6, "rank", causal,
    )  # fmt: skip
    bunch = load_breast_cancer()
    table = ArraySource(bunch.data, [str(name) for name in bunch.feature_names])
    yield _Example(
        "Breast cancer (Wisconsin, diagnostic)",
        "Malignant or benign, from 30 measurements of cell nuclei.",
        "breast-cancer", table, bunch.target_names[bunch.target], 6,
    )  # fmt: skip


def _run(example: _Example, out_dir: Path, console: Console) -> Path:
    """Select, show and draw; return the path of the figure."""
    from hsiclasso.plots import save_figure

    begin = time.perf_counter()
    with terminal.clean_warnings():
        result = _select(example.source, example.y, example.n_features, example.transform)
    seconds = time.perf_counter() - begin
    console.print()
    console.print(example.title, style="bold", markup=False)
    show(console, plain(example.note))
    causal = None if example.causal is None else {f"x{column}" for column in example.causal}
    console.print(tables.feature_table(result, causal))
    show(console, terminal.summary_line(result))
    show(console, terminal.certificate_line(result))
    found = ""
    if causal is not None:
        hits = len(causal.intersection(result.names[: len(causal)]))
        found = f"{hits} of the {len(causal)} heaviest features are causal; "
    console.print(f"{found}selection took {seconds:.2f} s")
    path = out_dir / f"{example.stem}.png"
    save_figure(result, path)
    return path


def _select(
    source: Source, y: Any, n_features: int, transform: Literal["rank"] | None = None
) -> SelectionResult:
    from hsiclasso import Auto, HSICLasso

    selector = HSICLasso(n_features, target=Auto(transform=transform), n_neighbors=3)
    return selector.fit(source, y).result_
