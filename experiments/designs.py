"""Designs with known causes, for studies of error rates: which features carry which cause."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from hsiclasso import make_copies, make_data1, make_data2

__all__ = ["DESIGNS", "Draw", "counted"]

#: Functions of a cause that nonlinear copies see.
_VIEWS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    lambda x: x**3,
    np.abs,
    lambda x: np.tanh(2 * x),
    lambda x: np.sin(2 * x),
)
#: SNPs in a block of linkage disequilibrium.
_BLOCK = 10


class Draw(NamedTuple):
    """A table, a target, and for each feature the number of the cause that it carries, or -1."""

    X: np.ndarray
    y: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class Found:
    """How many found features are right."""

    #: Distinct causes found.
    distinct: int
    #: Further features of a cause that is found already.
    copies: int
    #: Features, or clusters, without any cause.
    false: int

    @property
    def fdp(self) -> float:
        """Share of the found features that are copies or false."""
        wrong = self.copies + self.false
        return wrong / max(1, self.distinct + wrong)


def counted(origin: np.ndarray, clusters: list[list[int]]) -> Found:
    """Count found clusters: one is right if a member carries a cause not found before."""
    seen: set[int] = set()
    copies = false = 0
    for members in clusters:
        causes = set(origin[members].tolist()) - {-1}
        if not causes:
            false += 1
        elif causes <= seen:
            copies += 1
        seen |= causes
    return Found(len(clusters) - copies - false, copies, false)


def _chained(n: int, d: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Draw normal columns of which neighbours are correlated."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X


def _additive(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the target of Data1 for four causes."""
    noise = rng.standard_normal(len(Z))
    return -2 * np.sin(2 * Z[:, 0]) + Z[:, 1] ** 2 + Z[:, 2] + np.exp(-Z[:, 3]) + noise


def _no_cause(d: int) -> np.ndarray:
    return np.full(d, -1)


def _spread(d: int, number: int) -> np.ndarray:
    """Return the columns of some causes, far from each other."""
    return 5 + (d // number) * np.arange(number)


def _at(d: int, columns: np.ndarray) -> np.ndarray:
    origin = _no_cause(d)
    origin[columns] = np.arange(len(columns))
    return origin


def null(n: int, d: int, rng: np.random.Generator) -> Draw:
    """Independent normal features and target."""
    return Draw(rng.standard_normal((n, d)), rng.standard_normal(n), _no_cause(d))


def chained_null(n: int, d: int, rng: np.random.Generator) -> Draw:
    """Normal features with correlation .5 between neighbours, and an independent target."""
    return Draw(_chained(n, d, 0.5, rng), rng.standard_normal(n), _no_cause(d))


def heavy_null(n: int, d: int, rng: np.random.Generator) -> Draw:
    """Features and target with heavy tails, independent."""
    return Draw(np.sinh(1.5 * _chained(n, d, 0.5, rng)), rng.standard_t(1.5, n), _no_cause(d))


def linked_null(n: int, d: int, rng: np.random.Generator) -> Draw:
    """SNPs in blocks of linkage disequilibrium, and an independent target."""
    return Draw(_linked(n, d, rng), rng.standard_normal(n), _no_cause(d))


def data1(n: int, d: int, rng: np.random.Generator) -> Draw:
    """The paper's additive design."""
    X, y, causal = make_data1(n, d, random_state=rng)
    return Draw(X, y, _at(d, causal))


def data2(n: int, d: int, rng: np.random.Generator) -> Draw:
    """The paper's non-additive design, with a heavy-tailed target."""
    X, y, causal = make_data2(n, d, random_state=rng)
    return Draw(X, y, _at(d, causal))


def copies(n: int, d: int, rng: np.random.Generator) -> Draw:
    """The additive design with ten noisy copies of each cause."""
    return Draw(*make_copies(n, d, random_state=rng))


def nonlinear_copies(n: int, d: int, rng: np.random.Generator) -> Draw:
    """The additive design with five noisy functions of each cause."""
    Z, X, origin = rng.standard_normal((n, 4)), rng.standard_normal((n, d)), _no_cause(d)
    X[:, :4], origin[:4] = Z, np.arange(4)
    for place, (cause, view) in enumerate(((c, v) for c in range(4) for v in _VIEWS), start=4):
        seen = view(Z[:, cause])
        X[:, place] = seen / seen.std() + 0.3 * X[:, place]
        origin[place] = cause
    order = rng.permutation(d)
    return Draw(X[:, order], _additive(Z, rng), origin[order])


def chain(n: int, d: int, rng: np.random.Generator) -> Draw:
    """The additive design among features with correlation .7 between neighbours."""
    X, causal = _chained(n, d, 0.7, rng), _spread(d, 4)
    return Draw(X, _additive(X[:, causal], rng), _at(d, causal))


def classes(n: int, d: int, rng: np.random.Generator) -> Draw:
    """Three classes, each likelier for a function of one of three chained features."""
    X, causal = _chained(n, d, 0.5, rng), _spread(d, 3)
    Z = X[:, causal]
    odds = np.column_stack([1.5 * Z[:, 0], 1.5 * Z[:, 1] ** 2 - 1, 1.5 * np.sin(2 * Z[:, 2])])
    return Draw(X, np.argmax(odds + rng.gumbel(size=odds.shape), axis=1), _at(d, causal))


def heavy_tails(n: int, d: int, rng: np.random.Generator) -> Draw:
    """Heavy tails of features, target and noise, with an effect on the spread."""
    Z, causal = _chained(n, d, 0.5, rng), _spread(d, 3)
    z = Z[:, causal]
    y = z[:, 0] * np.exp(z[:, 1]) + z[:, 2] ** 2 + 0.5 * rng.standard_t(2, n)
    return Draw(np.sinh(Z), y, _at(d, causal))


def linked(n: int, d: int, rng: np.random.Generator) -> Draw:
    """SNPs in blocks of linkage disequilibrium; a block with a causal SNP carries its effect."""
    X, causal = _linked(n, d, rng), _spread(d, 4)
    a, b, c, e = X[:, causal].T
    y = a + 1.2 * (b > 0) - c + 1.5 * (e == 2) + rng.standard_normal(n)
    origin, block = _no_cause(d), np.arange(d) // _BLOCK
    for cause, column in enumerate(causal):
        origin[block == block[column]] = cause
    return Draw(X, y, origin)


def _linked(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw genotypes 0, 1 and 2 with a frequency for each block."""
    rare = norm.isf(rng.uniform(0.1, 0.5, -(-d // _BLOCK)))
    genotypes = np.zeros((n, d))
    for _ in range(2):  # haplotypes
        for block, level in enumerate(rare):
            own = slice(block * _BLOCK, min(d, (block + 1) * _BLOCK))
            genotypes[:, own] += _chained(n, own.stop - own.start, 0.9, rng) > level
    return genotypes


DESIGNS: dict[str, Callable[[int, int, np.random.Generator], Draw]] = {
    "null": null,
    "AR(.5) null": chained_null,
    "heavy-tailed null": heavy_null,
    "LD blocks, null": linked_null,
    "Data1": data1,
    "Data2": data2,
    "copies": copies,
    "nonlinear copies": nonlinear_copies,
    "AR(.7) chain": chain,
    "classes": classes,
    "heavy tails": heavy_tails,
    "LD blocks": linked,
}
