"""The recovery tables of Block HSIC Lasso (Climente-Gonzalez et al. 2019), with exact estimators.

Its authors draw tables of up to 10,000 samples and 10,000 features; the target depends on C of
these. A method selects 50, and the causal ones among its first C are counted, in ten draws. Their
exact HSIC Lasso ran out of memory on half of the tables, therefore they take means over blocks of
B samples. The designs are those of their repository (github.com/hclimente/nori), except that the
causal columns lie anywhere instead of first: a method that breaks ties by index gains nothing.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.contenders import (
    CLASSES,
    CONTENDERS,
    PERMUTATIONS,
    RANKS,
    REAL,
    Contender,
    Selector,
    block_hsic_lasso,
)
from experiments.runner import Request
from experiments.tidy import Row, Task, rows_of
from hsiclasso import HSICLasso, make_data1, make_data2
from hsiclasso.baselines import MRMR

SELECTED = 50
#: Terms that make up a target.
TERMS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (np.square, np.sin, np.cos)
#: The peer holds a matrix of n B M x d numbers; what it takes in all is about 1.7 times as much.
_PEER_GB = 2.0

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw_random_terms(n: int, d: int, *, n_causal: int, random_state: int) -> Drawn:
    r"""Draw a sum of random nonlinear terms.

    :math:`Y = \sum_{c=1}^{C} f_c(X_c)`, each :math:`f_c` drawn from
    :math:`\{x^2, \sin x, \cos x\}`; independent standard normal features, no noise. Two thirds of
    the terms are even, so no linear method can see them; a cosine has a tenth of the variance of
    a square.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    causal : ndarray of shape (n_causal,)
        Columns in the order of the terms.
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n, d))
    causal = rng.permutation(d)[:n_causal]
    return X, _sum_of_terms(X[:, causal], rng), causal


def draw_discrete(n: int, d: int, *, n_causal: int, random_state: int) -> Drawn:
    r"""Draw the discrete model: as many cases as controls, features 0 or 1.

    Each of 10 n people has features :math:`X_c` from fair coins and the score
    :math:`\sum_{c=1}^{C} f_c(X_c)`, with terms as in `draw_random_terms`. Cases are the top tenth
    by score, ties included; n/2 cases and n/2 controls are drawn. On 0 and 1 every term is linear:
    a one adds 1, sin 1 = 0.84 or cos 1 - 1 = -0.46.

    Returns
    -------
    X : ndarray of int8 of shape (n, d)
    y : ndarray of int of shape (n,)
        1 for cases.
    causal : ndarray of shape (n_causal,)
    """
    rng = np.random.default_rng(random_state)
    people = rng.integers(0, 2, size=(10 * n, n_causal), dtype=np.int8)
    score = _sum_of_terms(people.astype(float), rng)
    is_case = score >= np.quantile(score, 0.9)
    groups = (np.flatnonzero(is_case), n // 2), (np.flatnonzero(~is_case), n - n // 2)
    chosen = np.concatenate([rng.choice(group, size, replace=False) for group, size in groups])
    rng.shuffle(chosen)
    X = rng.integers(0, 2, size=(n, d), dtype=np.int8)
    causal = rng.permutation(d)[:n_causal]
    X[:, causal] = people[chosen]
    return X, is_case[chosen].astype(int), causal


def _sum_of_terms(columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    which = rng.integers(len(TERMS), size=columns.shape[1])
    return np.sum([TERMS[k](column) for k, column in zip(which, columns.T, strict=True)], axis=0)


@dataclass(frozen=True)
class Design:
    """A model of the study.

    Attributes
    ----------
    draw
        Called with n, d and `random_state`, returns X, y and the causal columns.
    sizes
        Pairs (n, d).
    kind
        Of the target.
    """

    draw: Callable[..., Drawn]
    sizes: tuple[tuple[int, int], ...]
    kind: str = REAL


_YAMADA = ((100, 1000), (100, 10000), (1000, 1000), (1000, 10000))
_MANY = ((1000, 2500), (10000, 5000), (10000, 10000))
#: The first two are Data1 and Data2 of the HSIC Lasso paper, with four and three causal features.
DESIGNS = {
    "additive": Design(make_data1, _YAMADA),
    "non-additive": Design(make_data2, _YAMADA),
    "random terms, C=5": Design(partial(draw_random_terms, n_causal=5), ((1000, 2500),)),
    "random terms, C=20": Design(partial(draw_random_terms, n_causal=20), _MANY),
    "discrete, C=20": Design(partial(draw_discrete, n_causal=20), ((1000, 10000),), CLASSES),
}


BLOCKS_OF = {"pyHSICLasso, B=10": 10, "pyHSICLasso, B=20": 20}
METHODS: dict[str, Contender] = {
    "HSIC Lasso": CONTENDERS["HSIC Lasso"],
    "HSIC Lasso, ranks": CONTENDERS["HSIC Lasso, ranks"],
    # the exact form of what the peer takes means over blocks of
    "nHSIC Lasso": CONTENDERS["nHSIC Lasso"],
    "nHSIC Lasso, ranks": Contender(
        Selector(HSICLasso, measure="nhsic", target=RANKS), kinds=(REAL,)
    ),
    "NOCCO Lasso, ranks": CONTENDERS["NOCCO Lasso, ranks"],
    **{
        name: Contender(block_hsic_lasso(block), package="pyHSICLasso", runs=3)
        for name, block in BLOCKS_OF.items()
    },
    "Lasso": CONTENDERS["Lasso"],
    "mRMR": CONTENDERS["mRMR"],
    # Peng's program as the authors called it for sums of terms: apart at the mean
    "mRMR, 2 states": Contender(Selector(MRMR, threshold=1e-9), kinds=(REAL,)),
    "mRMR, 5 quantiles": CONTENDERS["mRMR, 5 quantiles"],
}


@dataclass(frozen=True, eq=False)
class RecoveryStudy:
    """Methods on draws of designs whose causal features are known.

    Attributes
    ----------
    name : str
    designs, methods : mapping
        By name.
    runs : int
        Draws, if the user does not say.
    """

    name: str
    designs: Mapping[str, Design]
    methods: Mapping[str, Contender]
    runs: int = 10
    timed = False

    @property
    def sets(self) -> Iterable[str]:
        """Names of the designs."""
        return self.designs

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every method."""
        for data, design in self.designs.items():
            for (n, d), (method, contender) in itertools.product(
                design.sizes, self.methods.items()
            ):
                reason = contender.missing(design.kind) or too_large(method, n, d)
                yield Task(self.name, data, method, n, d, 0), reason

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one draw and count what was found."""
        design = self.designs[task.data]
        # sizes differ in their sum: no draw is a part of another
        seed = 1000 * (task.n + task.d) + task.run
        X, y, causal = design.draw(task.n, task.d, random_state=seed)
        start = time.perf_counter()
        rank = self.methods[task.method].rank
        ranked = rank(X, y, min(SELECTED, task.d), design.kind, task.run)
        seconds = time.perf_counter() - start
        values = [
            (len(causal), "fraction", fraction(ranked, causal)),
            (SELECTED, "seconds", seconds),
        ]
        return rows_of(task, seed, values)


def fraction(ranked: np.ndarray, causal: np.ndarray) -> float:
    """Share of the C causal features among the first C of a ranking."""
    return float(np.isin(ranked[: len(causal)], causal).sum() / len(causal))


def too_large(method: str, n: int, d: int) -> str | None:
    """Say why a method with blocks cannot run on a table of this size; None if it can."""
    gigabytes = 8e-9 * n * BLOCKS_OF.get(method, 0) * PERMUTATIONS * d
    if gigabytes <= _PEER_GB:
        return None
    return f"its matrix of n B M x d numbers takes {gigabytes:.1f} GB, and it about twice as much"


BLOCKS = RecoveryStudy("blocks", DESIGNS, METHODS)

_FULL, _B10, _B20, _B50 = "nHSIC Lasso", *BLOCKS_OF, "pyHSICLasso, B=50"
_TWO = "mRMR, 2 states"


def _authors(full: float | None, b10: float, b50: float, lasso: float, mrmr: float) -> dict:
    return {_FULL: full, _B10: b10, _B50: b50, "Lasso": lasso, "mRMR": mrmr}


#: Means of the authors' ten draws, with M = 3, by (data, n, d) and the method here that is theirs;
#: None where theirs gave nothing for want of memory. Their mRMR parted sums of terms at the mean,
#: as their numbers show; how it cut the first two designs is not known.
AUTHORS: dict[tuple[str, int, int], dict[str, float | None]] = {
    ("additive", 100, 1000): _authors(0.675, 0.5, 0.625, 0.45, 0.1),
    ("additive", 100, 10000): _authors(0.475, 0.275, 0.475, 0.25, 0.075),
    ("additive", 1000, 1000): _authors(1.0, 1.0, 1.0, 0.775, 0.75),
    ("additive", 1000, 10000): _authors(None, 0.975, 1.0, 0.75, 0.75),
    ("non-additive", 100, 1000): _authors(0.633, 0.6, 0.667, 0.333, 0.4),
    ("non-additive", 100, 10000): _authors(0.6, 0.567, 0.667, 0.133, 0.1),
    ("non-additive", 1000, 1000): _authors(0.9, 0.967, 1.0, 0.467, 0.667),
    ("non-additive", 1000, 10000): _authors(None, 1.0, 1.0, 0.433, 0.667),
    ("random terms, C=5", 1000, 2500): {_FULL: 0.98, _B20: 0.92, "Lasso": 0.38, _TWO: 0.38},
    ("random terms, C=20", 1000, 2500): {
        _FULL: 0.76, _B10: 0.4, _B20: 0.53, "Lasso": 0.345, _TWO: 0.16
    },
    ("random terms, C=20", 10000, 5000): {
        _FULL: None, _B10: 0.7, _B20: 0.79, "Lasso": 0.335, _TWO: 0.335
    },
    ("random terms, C=20", 10000, 10000): {_FULL: None, "Lasso": 0.33, _TWO: 0.33},
    ("discrete, C=20", 1000, 10000): {_FULL: None, _B20: 0.68, "Lasso": 0.9, "mRMR": 0.835},
}  # fmt: skip


def blocks_table(frame: pd.DataFrame) -> list[str]:
    """Return Markdown, a table for each design: ours, and the authors' number in brackets.

    Parameters
    ----------
    frame : DataFrame
        Tidy rows of the study.
    """
    fractions = frame[frame["metric"] == "fraction"]
    ours = fractions.groupby(["data", "n", "d", "method"])["value"].mean().to_dict()
    lines = []
    for data, design in DESIGNS.items():
        cells = [(data, n, d) for n, d in design.sizes]
        lines += [
            f"| {data} | " + " | ".join(f"n={n}, d={d}" for _, n, d in cells) + " |",
            "|---|" + "---|" * len(cells),
        ]
        for method in (*METHODS, _B50):
            entries = [
                _entry(ours.get((*cell, method)), AUTHORS.get(cell, {}), method) for cell in cells
            ]
            if any(entries):
                lines.append(
                    f"| {method} | " + " | ".join(entry or "-" for entry in entries) + " |"
                )
        lines.append("")
    return lines[:-1]


def _entry(mean: float | None, theirs: Mapping[str, float | None], method: str) -> str:
    """``"0.70 (0.68)"``, one of the two if the other is not known, or nothing."""
    parts = [] if mean is None else [f"{mean:.2f}"]
    if method in theirs:
        known = theirs[method]
        parts.append("(no memory)" if known is None else f"({known:.2f})")
    return " ".join(parts)
