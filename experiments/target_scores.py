"""Power of the test with the values of a real target and with their normal scores.

``python -m experiments.target_scores`` draws a feature and a target that depends on it, and counts
how often the p-value is at most 1e-3: for three shapes, and noise with lighter and heavier tails.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from hsiclasso import Real, hsic_test

OUT = Path(__file__).resolve().parent / "results" / "target_scores.csv"
LEVEL, N, SEED = 1e-3, 150, 31_000
SHAPES = {
    "line": lambda x: 0.35 * x,
    "wave": lambda x: 0.6 * np.sin(2 * x),
    "bowl": lambda x: 0.35 * x**2,
}
NOISE = {
    "uniform": lambda rng, x: rng.uniform(-1.7, 1.7, x.size),
    "normal": lambda rng, x: rng.normal(size=x.size),
    "t(2)": lambda rng, x: rng.standard_t(2, x.size),
    "log-normal": lambda rng, x: rng.lognormal(size=x.size),
    "spread by x": lambda rng, x: rng.normal(size=x.size) * np.exp(0.5 * x),
}
TRANSFORMS = {"values": None, "ranks": "rank", "normal scores": "normal"}


def power(shape, noise, transform, n_draws, seed):
    """Share of draws with a small p-value; the same draws for each transform."""
    rng = np.random.default_rng([seed, list(SHAPES).index(shape), list(NOISE).index(noise)])
    found = 0
    for _ in range(n_draws):
        x = rng.normal(size=N)
        y = SHAPES[shape](x) + NOISE[noise](rng, x)
        found += hsic_test(x, y, target=Real(transform=TRANSFORMS[transform])).p_value <= LEVEL
    return found / n_draws


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--draws", type=int, default=400)
    chosen = parser.parse_args(arguments)
    with chosen.out.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["shape", "noise", *TRANSFORMS, "draws"])
        for shape in SHAPES:
            for noise in NOISE:
                shares = [power(shape, noise, t, chosen.draws, SEED) for t in TRANSFORMS]
                writer.writerow([shape, noise, *shares, chosen.draws])
                print(shape, noise, shares, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
