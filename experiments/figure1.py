"""The paper's Figures 1(a) and 1(b): features recovered against the number of samples.

``python -m experiments.figure1 [--runs 30] [--out experiments/results]``

Data1 (additive, d = 256, 4 causal features) and Data2 (non-additive, d = 1000, 3 causal
features), HSIC Lasso and NOCCO Lasso, each with the target as it is and with its ranks.

The paper chooses the penalty "so that the number of non-zero coefficients is in {d*, ...,
d* + 10}", where d* is the number of causal features, and takes the d* heaviest features. That
leaves the penalty open. Here the path is followed until d* + 10 weights are positive, or to its
end, and the last solution is taken: of the solutions the rule admits it has the smallest
penalty, so its weights are shrunk least. The CSV also holds the lowest and the highest
fraction over all breakpoints of the path that the rule admits.

Results go to one tidy CSV; runs that are in it already are not done again.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from joblib import Parallel, delayed

from experiments.figure1_plot import draw
from hsiclasso import FewerFeaturesWarning, HSICLasso, NOCCOLasso, make_data1, make_data2

OUT = Path(__file__).resolve().parent / "results"
SPARE = 10


@dataclass(frozen=True)
class Design:
    """A synthetic design: how it is drawn, its number of features, and the sample sizes."""

    draw: object
    d: int
    sizes: tuple[int, ...]


DESIGNS = {
    "Data1": Design(make_data1, 256, tuple(range(50, 401, 50))),
    "Data2": Design(make_data2, 1000, tuple(range(100, 601, 100))),
}
METHODS = {"HSIC Lasso": HSICLasso, "NOCCO Lasso": NOCCOLasso}
TARGETS = {"raw": None, "rank": "rank"}


@dataclass(frozen=True)
class Outcome:
    """One method on one draw of a design: a row of the CSV.

    Attributes
    ----------
    design, n, d, run, seed
        The draw; `seed` is the `random_state` of the design.
    method, target
        ``"HSIC Lasso"`` or ``"NOCCO Lasso"``, and ``"raw"`` or ``"rank"``.
    positive
        Positive weights in the solution that was taken.
    fraction
        Share of the causal features among its d* heaviest.
    lowest, highest
        Least and largest share over the breakpoints with d* to d* + 10 positive weights.
    seconds
        Wall time of the fit, on one thread.
    """

    design: str
    n: int
    d: int
    run: int
    seed: int
    method: str
    target: str
    positive: int
    fraction: float
    lowest: float
    highest: float
    seconds: float


Task = tuple[str, int, int]


def perform(task: Task) -> list[Outcome]:
    """Draw a design once and try every method on it."""
    name, n, run = task
    design, seed = DESIGNS[name], 1000 * n + run
    X, y, causal = design.draw(n, design.d, random_state=seed)
    outcomes = []
    for method in METHODS:
        for target in TARGETS:
            start = time.perf_counter()
            path = follow(method, target, X, y, len(causal))
            seconds = round(time.perf_counter() - start, 4)
            found = recovered(path, set(causal.tolist()))
            shares = [found[-1], min(found), max(found)]
            positive = path.breakpoints[-1].indices.size
            outcomes.append(
                Outcome(name, n, design.d, run, seed, method, target, positive, *shares, seconds)
            )
    return outcomes


def follow(method: str, target: str, X, y, n_causal: int):
    """Return the solution path down to d* + 10 positive weights."""
    selector = METHODS[method](n_causal + SPARE, y_transform=TARGETS[target], n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return selector.fit(X, y).path_


def recovered(path, causal: set[int]) -> list[float]:
    """Share of the causal features among the d* heaviest, at every breakpoint the rule admits.

    The last entry is the last solution of the path.
    """
    admitted = [
        point for point in path.breakpoints
        if len(causal) <= (point.weights > 0).sum() <= len(causal) + SPARE
    ] or [path.breakpoints[-1]]  # fmt: skip
    heaviest = [point.indices[(-point.weights).argsort()[: len(causal)]] for point in admitted]
    return [round(len(causal & set(top.tolist())) / len(causal), 4) for top in heaviest]


def tasks(runs: int) -> list[Task]:
    """List every draw of the experiment."""
    return [
        (name, n, run)
        for name, design in DESIGNS.items()
        for n in design.sizes
        for run in range(runs)
    ]


def read(path: Path) -> list[Outcome]:
    """Read the outcomes of a CSV; none if it does not exist."""
    if not path.exists():
        return []
    kinds = {field.name: field.type for field in fields(Outcome)}
    with path.open(newline="") as file:
        return [Outcome(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]


def write(path: Path, outcomes: list[Outcome]) -> None:
    """Write outcomes as a sorted CSV."""
    order = [*METHODS].index
    outcomes = sorted(
        outcomes, key=lambda o: (o.design, o.n, o.run, order(o.method), o.target != "raw")
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)])
        writer.writeheader()
        writer.writerows(map(asdict, outcomes))


def missing(path: Path, runs: int) -> list[Task]:
    """List the draws that are not in the CSV with every method."""
    done = {(o.design, o.n, o.run, o.method, o.target) for o in read(path)}
    every = [(method, target) for method in METHODS for target in TARGETS]
    return [task for task in tasks(runs) if not all((*task, *way) in done for way in every)]


def compute(todo: list[Task], n_jobs: int) -> Iterator[list[Outcome]]:
    """Perform tasks on all cores, handing outcomes over as they come."""
    return Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(perform)(task) for task in todo
    )


def main() -> None:
    """Do what is not done yet, then draw the figure."""
    parser = argparse.ArgumentParser(description="The paper's Figures 1(a) and 1(b).")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--n-jobs", type=int, default=-1)
    chosen = parser.parse_args()
    path = chosen.out / "figure1.csv"
    outcomes = read(path)
    for i, made in enumerate(compute(missing(path, chosen.runs), chosen.n_jobs)):
        outcomes += made
        if i % 20 == 0:
            write(path, outcomes)
    write(path, outcomes)
    shown = [outcome for outcome in outcomes if outcome.run < chosen.runs]
    draw(shown, chosen.out / "figure1.png")
    print(summary(shown))


def summary(outcomes: list[Outcome]) -> str:
    """Return the mean fractions as Markdown tables, one for each design."""
    parts = []
    for name, design in DESIGNS.items():
        here = [outcome for outcome in outcomes if outcome.design == name]
        head = f"| {name}, d = {design.d}, n = | " + " | ".join(map(str, design.sizes)) + " |"
        lines = [head, "|---|" + "---|" * len(design.sizes)]
        for method in METHODS:
            for target in TARGETS:
                means = [_mean(here, method, target, n) for n in design.sizes]
                lines.append(f"| {method}, {target} target | " + " | ".join(means) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _mean(outcomes: list[Outcome], method: str, target: str, n: int) -> str:
    picked = [o.fraction for o in outcomes if (o.method, o.target, o.n) == (method, target, n)]
    return f"{sum(picked) / len(picked):.2f}"


if __name__ == "__main__":
    main()
