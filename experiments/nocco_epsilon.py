"""How NOCCO Lasso's regularisation decides what it recovers, with the target as it is.

``python -m experiments.nocco_epsilon [--runs 30] [--out experiments/results]``

The designs, draws and rule of `experiments.figure1`, at two sample sizes each, for a grid of
epsilon; the paper fixes epsilon = 1e-3. As epsilon grows, the operator tends to the centred
Gram matrix over epsilon n, so NOCCO Lasso tends to HSIC Lasso.
"""

import argparse
from pathlib import Path

from joblib import Parallel, delayed

from experiments.figure1 import DESIGNS, OUT, SPARE, recovered
from hsiclasso import HSICLasso, NOCCOLasso

EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = {"Data1": (200, 400), "Data2": (300, 600)}


def fractions(name: str, n: int, run: int) -> list[float]:
    """Share of the causal features found by NOCCO Lasso for each epsilon, then by HSIC Lasso."""
    design = DESIGNS[name]
    X, y, causal = design.draw(n, design.d, random_state=1000 * n + run)
    wanted = len(causal) + SPARE
    selectors = [NOCCOLasso(wanted, epsilon=epsilon, n_jobs=1) for epsilon in EPSILONS]
    selectors.append(HSICLasso(wanted, n_jobs=1))
    known = set(causal.tolist())
    return [recovered(selector.fit(X, y).path_, known)[-1] for selector in selectors]


def line(name: str, n: int, runs: int, n_jobs: int) -> str:
    """Return a row of the table: means over the runs."""
    found = Parallel(n_jobs=n_jobs)(delayed(fractions)(name, n, run) for run in range(runs))
    means = [sum(column) / runs for column in zip(*found, strict=True)]
    return f"| {name}, n = {n} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |"


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description="NOCCO Lasso against its epsilon.")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--n-jobs", type=int, default=-1)
    chosen = parser.parse_args()
    header = ["epsilon =", *(f"{epsilon:g}" for epsilon in EPSILONS), "HSIC Lasso"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for name, sizes in SIZES.items():
        lines += [line(name, n, chosen.runs, chosen.n_jobs) for n in sizes]
    text = "\n".join(lines) + "\n"
    print(text)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "nocco_epsilon.md").write_text(text)


if __name__ == "__main__":
    main()
