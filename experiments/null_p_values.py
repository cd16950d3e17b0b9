"""How often p-values of unrelated features fall below a level: realised over nominal.

``python -m experiments.null_p_values`` draws tables and targets that are independent of each other,
and compares every feature with many random orders of the target. It counts p-values up to 1e-3,
1e-4, 1e-5 and 1e-6: ours, and those of the gamma distribution with the exact mean and variance,
which is the usual approximation. A cell of the study is a design of features, a design of targets
and a number of samples; finished cells are in the file of results and are not repeated.

The design was fixed, with other seeds, before the results that the file has were drawn.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from scipy.special import gammaincc

from hsiclasso import Delta, Gaussian
from hsiclasso._blas import single_threaded_blas
from hsiclasso.inference import Spectrum, permutation_moments, permutation_p_value
from hsiclasso.kernels import HSIC, Samples
from hsiclasso.kernels.factor import factor_columns
from hsiclasso.targets.values import transformed

OUT = Path(__file__).resolve().parent / "results" / "null_p_values.csv"
LEVELS = (1e-3, 1e-4, 1e-5, 1e-6)
SAMPLES = (50, 200, 1000)
#: Features of a draw, and orders of its target.
FEATURES, ORDERS = 100, 400
#: Error of the features' matrices. Any matrix made of the feature alone has the same null.
ERROR = 1e-4
SEED = 20_000
FIELDS = ["x", "y", "n", "method", "level", "ratio", "se", "n_tests"]


def genotypes(rng, shape):
    """Calls 0, 1, 2 with minor alleles of 1, 3, 10 and 30 percent."""
    return rng.binomial(2, rng.choice([0.01, 0.03, 0.1, 0.3], (shape[0], 1)), shape).astype(float)


DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "log-normal": lambda rng, shape: rng.lognormal(size=shape),
    "t(3)": lambda rng, shape: rng.standard_t(3, size=shape),
    "genotypes": genotypes,
}
TARGETS = {
    "normal scores": lambda rng, n: transformed(rng.normal(size=n), "normal"),
    "log-normal, raw": lambda rng, n: rng.lognormal(size=n),
    "two classes": lambda rng, n: np.arange(n) % 2.0,
    "class of 5%": lambda rng, n: (np.arange(n) < round(0.05 * n)).astype(float),
}
#: Tests of a cell with the usual target, with all features; and with others, some features.
MANY, SOME = 4_000_000, 1_000_000
USUAL, FEW = "normal scores", ("normal", "log-normal", "genotypes")
CELLS = [(x, y, n) for y in TARGETS for x in (DRAWS if y == USUAL else FEW) for n in SAMPLES]


def rows_of(columns, kernel):
    """Rows (k, r, n) of the centred matrices of the columns (k, n) that vary."""
    columns = np.ascontiguousarray(columns[np.ptp(columns, axis=1) > 0])
    kernel.scale(columns, np.ones((1, columns.shape[1])))
    factors = factor_columns(columns, kernel, Samples(columns.shape[1]), HSIC(), ERROR)
    rows = np.zeros((len(factors), max(len(f.rows) for f in factors), columns.shape[1]))
    for made, factor in zip(rows, factors, strict=True):
        made[: len(factor.rows)] = factor.rows
    return rows


def one_draw(rng, x, y, n):
    """Counts (2, levels) of small p-values in one draw, ours and those of gamma, over nominal."""
    features = rows_of(DRAWS[x](rng, (FEATURES, n)), Gaussian())
    kernel = Delta() if "class" in y else Gaussian()
    (target,) = rows_of(TARGETS[y](rng, n)[None], kernel)
    orders = np.array([rng.permutation(n) for _ in range(ORDERS)])
    permuted = target[:, orders].transpose(1, 0, 2).reshape(-1, n)
    cross = (features.reshape(-1, n) @ permuted.T).reshape(*features.shape[:2], ORDERS, -1)
    statistic = np.square(cross).sum(axis=(1, 3))
    feature, null = Spectrum.of(features), Spectrum.of(target)
    mean, variance = (part[:, None] for part in permutation_moments(feature, null, n))
    ours = permutation_p_value(statistic, feature, null, n)
    gamma = gammaincc(mean**2 / variance, statistic * mean / variance)
    return np.array([[np.mean(p <= level) / level for level in LEVELS] for p in (ours, gamma)])


def run_cell(x, y, n, n_tests, seed):
    """Rows of results of one cell; errors are those of means over independent draws."""
    rng = np.random.default_rng([seed, list(DRAWS).index(x), list(TARGETS).index(y), n])
    draws = np.array([one_draw(rng, x, y, n) for _ in range(n_tests // (FEATURES * ORDERS))])
    means, errors = draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    return [
        [x, y, n, method, level, f"{means[i, j]:.4g}", f"{errors[i, j]:.2g}", n_tests]
        for i, method in enumerate(("ours", "gamma"))
        for j, level in enumerate(LEVELS)
    ]


def finished(file):
    """Cells that a file has."""
    if not file.exists():
        return set()
    with file.open(newline="") as stream:
        return {(row["x"], row["y"], int(row["n"])) for row in csv.DictReader(stream)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--share", type=float, default=1.0, help="share of the tests: a first look")
    chosen = parser.parse_args(arguments)
    done = finished(chosen.out)
    if not chosen.out.exists():
        chosen.out.write_text(",".join(FIELDS) + "\n")
    for x, y, n in CELLS:
        if (x, y, n) in done:
            continue
        n_tests = MANY if y == USUAL else SOME
        with single_threaded_blas():
            rows = run_cell(x, y, n, int(chosen.share * n_tests), chosen.seed)
        with chosen.out.open("a", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        print(x, y, n, [row[5] for row in rows], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
