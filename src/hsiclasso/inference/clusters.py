r"""Clusters of features that carry the same information.

The similarity of two columns is their normalised HSIC,
:math:`\langle K, L\rangle / (\|K\|\,\|L\|)`, with the usual kernels. Clusters are those of average
linkage: two clusters join while the mean similarity between their members is at least a threshold.
A single pair that chance puts just below the threshold does not part a cluster, as with complete
linkage; a single pair above it does not chain two clusters, as with single linkage.

Similarities are needed among all features that any sample of the samples selected, which may be
thousands. Let K be a matrix of norm 1, K' what its leading rows give, and K'' the rest. Inner
products of positive semi-definite matrices are not negative, so

.. math:: \langle K, L\rangle \le \langle K', L'\rangle + \|K''\| + \|L''\| + \|K''\|\,\|L''\| .

This puts most pairs far below the threshold; the others are compared exactly.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from hsiclasso._types import FloatArray, IntArray, SingleArray
from hsiclasso.data import Source
from hsiclasso.dependence.products import inner_products
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import HSIC, Factor, Samples
from hsiclasso.selectors.features import resolve_features
from hsiclasso.selectors.missing import as_missing

__all__ = ["cluster", "factors_of", "similar_groups"]

#: Relative error of the matrices that are compared, and rows of a factor for the first look.
_ERROR, _LEADING = 1e-3, 2
#: Features that are compared at once.
_AT_ONCE = 256
#: Rounding errors of the first look, in single precision.
_ROUNDING = 1e-4


def factors_of(source: Source, columns: IntArray) -> list[Factor]:
    """Return the factors, of norm 1, of some columns of a table; missing values are ignored.

    A column that does not vary has a factor without rows.
    """
    features = resolve_features(
        source, Samples(source.n_samples), kernel="auto", joint=None,
        covariates=np.zeros(0, dtype=np.int64), missing=as_missing("ignore"), gram_error=_ERROR,
    )  # fmt: skip
    made = []
    for start in range(0, columns.size, _AT_ONCE):
        scaled = features.scaled(columns[start : start + _AT_ONCE])
        made += features.matrices(scaled, HSIC().similarity())
    return [matrix for matrix in made if isinstance(matrix, Factor)]


def cluster(factors: list[Factor], least: float) -> list[tuple[IntArray, FloatArray]]:
    """Return clusters of features, and the similarities (m, m) within each.

    Parameters
    ----------
    factors : list of Factor
        Factors of norm 1.
    least : float
        Least mean similarity between two clusters that join.
    """
    made = []
    for group in similar_groups(factors, least):
        some = [factors[k] for k in group.tolist()]
        similarity = np.minimum(inner_products(some, some, Threads(1)), 1.0)
        np.fill_diagonal(similarity, 1.0)
        labels = np.zeros(group.size, dtype=np.int64)
        if group.size > 1:
            similarity = 0.5 * (similarity + similarity.T)
            tree = linkage(squareform(1 - similarity, checks=False), "average")
            labels = fcluster(tree, 1 - least, "distance")
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            made.append((group[members], similarity[np.ix_(members, members)]))
    return made


def similar_groups(factors: list[Factor], least: float) -> list[IntArray]:
    """Return groups of features; two of different groups are less similar than `least`."""
    rows, rests = _leading(factors)
    size, pairs = len(factors), []
    for start in range(0, size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        for other in range(start, size, _AT_ONCE):
            beside = slice(other, other + _AT_ONCE)
            bound = np.zeros((len(rests[part]), len(rests[beside])), dtype=np.float32)
            for left in rows:
                for right in rows:
                    bound += np.square(left[part] @ right[beside].T)
            rest = np.add.outer(rests[part], rests[beside]) + _ROUNDING
            bound += rest + np.multiply.outer(rests[part], rests[beside])
            pairs.append(np.argwhere(bound >= least) + np.array([start, other]))
    joined = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    links = sparse.coo_array((np.ones(len(joined)), joined.T), shape=(size, size))
    _, labels = connected_components(links, directed=False)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if size else []


def _leading(factors: list[Factor]) -> tuple[SingleArray, SingleArray]:
    """Return the leading rows (2, k, n) of factors, and the norms (k,) of what they leave out."""
    n = factors[0].rows.shape[1] if factors else 0
    rows = np.zeros((_LEADING, len(factors), n), dtype=np.float32)
    rests = np.zeros(len(factors), dtype=np.float32)
    for k, factor in enumerate(factors):
        some = factor.rows[:_LEADING]
        rows[: len(some), k] = some
        rests[k] = np.linalg.norm(factor.eigenvalues[_LEADING:])
    return rows, rests
