"""All methods beside each other: what they are, how long they take, what they recover.

``python -m experiments.methods [--runs 30] [--out experiments/results] [--page docs/methods.md]``

Three designs: the paper's Data1 (n = 200, d = 256) and Data2 (n = 300, d = 1000), and Data1 with
ten noisy copies of each causal feature (n = 200, d = 256). Every method is asked for as many
features as are causal, d*, with its defaults. HSIC Lasso and NOCCO Lasso follow the paper's Figure
1: of d* + 10 positive weights, the d* heaviest count. They also run with the ranks of the target.
Recovery is the share of the causal features among the d* best; in the design with copies, a copy
counts as its original, and several copies count once.

Results go to one tidy CSV; runs that are in it already are not repeated. The table of the page is
written from what the classes declare and from the CSV.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import mean, median

import numpy as np
from joblib import Parallel, delayed

from experiments.contenders import RANKS
from experiments.markdown import fill
from hsiclasso import FewerFeaturesWarning, make_copies, make_data1, make_data2
from hsiclasso.baselines import METHODS, traits_of

ROOT = Path(__file__).resolve().parents[1]
SPARE = 10


@dataclass(frozen=True)
class Design:
    """A synthetic design: how it is drawn, its size, and its number of causal features."""

    draw: Callable[..., tuple]
    n: int
    d: int
    n_causal: int


DESIGNS = {
    "Data1": Design(make_data1, 200, 256, 4),
    "Data2": Design(make_data2, 300, 1000, 3),
    "copies": Design(make_copies, 200, 256, 4),
}
OWN = ("hsic_lasso", "nocco_lasso")
#: Name in the table: the method, and options beside its defaults.
VARIANTS = {
    **{name: (name, {}) for name in METHODS},
    "hsic_lasso, ranks": ("hsic_lasso", {"target": RANKS}),
    "nocco_lasso, ranks": ("nocco_lasso", {"target": RANKS}),
    "mrmr, 5 quantiles": ("mrmr", {"bins": "quantile"}),
}


@dataclass(frozen=True)
class Outcome:
    """One method on one draw of a design: a row of the CSV; seconds on one thread."""

    design: str
    run: int
    method: str
    recovery: float
    seconds: float


def recovered(selected, truth, design: Design) -> float:
    """Share of the causal features among those selected."""
    chosen = np.asarray(selected)[: design.n_causal]
    if design.draw is make_copies:
        found = set(truth[chosen].tolist()) - {-1}
    else:
        found = set(truth.tolist()) & set(chosen.tolist())
    return len(found) / design.n_causal


def run_one(name: str, variant: str, run: int) -> Outcome:
    """Fit one method on one draw."""
    design = DESIGNS[name]
    X, y, truth = design.draw(design.n, design.d, random_state=run)
    method, options = VARIANTS[variant]
    wanted = design.n_causal + (SPARE if method in OWN else 0)
    estimator = METHODS[method](wanted, **options)
    parameters = estimator.get_params()
    if "n_jobs" in parameters:
        estimator.set_params(n_jobs=1)
    if "random_state" in parameters:
        estimator.set_params(random_state=run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        begin = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - begin
    share = recovered(estimator.selected_, truth, design)
    return Outcome(name, run, variant, round(share, 4), round(seconds, 4))


def warm_up() -> None:
    """Load the compiled loops, because their loading must not count."""
    X, y, _ = make_data1(40, 12, random_state=0)
    for method, options in VARIANTS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            METHODS[method](2, **options).fit(X, y)


def run_some(tasks: list[tuple[str, str, int]]) -> list[Outcome]:
    """Fit several, in a process that is warm."""
    warm_up()
    return [run_one(*task) for task in tasks]


def read(file: Path) -> dict[tuple[str, str, int], Outcome]:
    """Read outcomes by design, method and run."""
    if not file.exists():
        return {}
    types = {field.name: field.type for field in fields(Outcome)}
    with file.open(newline="") as stream:
        rows = [
            Outcome(**{k: types[k](v) for k, v in row.items()}) for row in csv.DictReader(stream)
        ]
    return {(row.design, row.method, row.run): row for row in rows}


def write(outcomes: list[Outcome], file: Path) -> None:
    """Write outcomes, sorted."""
    file.parent.mkdir(parents=True, exist_ok=True)
    order = {name: place for place, name in enumerate(VARIANTS)}
    rows = sorted(outcomes, key=lambda row: (row.design, order.get(row.method, 99), row.run))
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Outcome)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def declared(name: str) -> list[str]:
    """What a method says of itself, as cells."""
    traits = traits_of(name)
    form = "-" if traits.form == "none" else traits.form
    structured = "yes" if traits.structured else "no"
    return [
        traits.dependency,
        traits.optimization,
        form,
        traits.scalability,
        structured,
        traits.cost,
    ]


def table_lines(outcomes: dict) -> Iterator[str]:
    """Lines of the table: what is declared, and what was measured."""
    header = ["method", "dependence", "optimisation", "form", "scales with d", "structured target"]
    header += ["cost", *(f"{name}: found (s)" for name in DESIGNS)]
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for variant, (method, options) in VARIANTS.items():
        title = traits_of(method).title
        cells = declared(method)
        if options:
            title, cells = f"{title}{variant.removeprefix(method)}", [""] * len(cells)
        for name in DESIGNS:
            rows = [row for (d, m, _), row in outcomes.items() if (d, m) == (name, variant)]
            share = f"{mean(r.recovery for r in rows):.2f}" if rows else ""
            cells.append(f"{share} ({median(r.seconds for r in rows):.2g})" if rows else "")
        yield "| " + " | ".join([title, *cells]) + " |"


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "methods.md")
    chosen = parser.parse_args()
    file = chosen.out / "methods.csv"
    done = read(file)
    wanted = [(d, m, r) for m in chosen.methods for d in DESIGNS for r in range(chosen.runs)]
    missing = [task for task in wanted if task not in done]
    # a share of every method to each process, and what is done is saved as it comes
    parts = [missing[start : start + 30] for start in range(0, len(missing), 30)]
    for found in Parallel(n_jobs=chosen.jobs, return_as="generator_unordered")(
        delayed(run_some)(part) for part in parts
    ):
        done |= {(row.design, row.method, row.run): row for row in found}
        write(list(done.values()), file)
        print(f"{found[0].method}, {found[0].design}: {len(done)} of {len(wanted)}", flush=True)
    fill(chosen.page, {"methods": "\n".join(table_lines(done))})


if __name__ == "__main__":
    main()
