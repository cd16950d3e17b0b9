r"""Tests of pairs of features for what they say jointly about a target.

The statistic of features k and l and a target is the sum of the products of three centred Gram
matrices,

.. math:: \sum_{ij} \bar K^{(k)}_{ij} \bar K^{(l)}_{ij} \bar L_{ij} ,

the relevance of the pair, and the Lancaster interaction statistic of Sejdinovic, Gretton and
Bergsma (2013). As they do, a pair is tested against three null hypotheses: that the target is
independent of both features, that the first feature is independent of the second one and the
target, and that the second feature is independent of the first one and the target. Each has its
permutation null, <A, B> of a matrix A that is permuted and a product B of the two others. The
largest p-value counts. A pair of a feature that the target depends on with one that has nothing to
do with either is therefore no finding: the third null hypothesis holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Dataset, as_dataset
from hsiclasso.dependence import Features, Progress, Threads
from hsiclasso.dependence.pair_rows import RowMaker
from hsiclasso.dependence.pairs import Found, PairOptions, Pairs, scan_pairs
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.multiple import adjust
from hsiclasso.inference.pair_result import HSICPairScan
from hsiclasso.inference.permutation import CHECKED, MIN_SAMPLES, permutation_p_value
from hsiclasso.inference.scan import ScanOptions, prepared_scan, scan_target
from hsiclasso.inference.spectrum import Spectrum, third_sums
from hsiclasso.kernels import HSIC
from hsiclasso.kernels.interaction import product_of_matrices, turned
from hsiclasso.selectors import Resources
from hsiclasso.selectors.columns import FeatureFinder
from hsiclasso.selectors.resources import as_resources

__all__ = ["hsic_scan_pairs", "pair_test", "scan_pairs_of"]

#: Share of the trace that rows of a product of two matrices may leave out.
_SHARE = 3e-4
#: Pairs that are tested at once.
_AT_ONCE = 16


def hsic_scan_pairs(
    X: Any,
    y: Any = None,
    *,
    kernel: Any = "auto",
    target: Any = "auto",
    among: Sequence[str | int] | None = None,
    beside: Sequence[str | int] | None = None,
    missing: Any = "error",
    n_kept: int = 1000,
    n_jobs: int | None = -1,
    resources: Resources | None = None,
) -> HSICPairScan:
    r"""Test all pairs of features for what they say jointly about a target.

    A fast scan orders all pairs by a coarse p-value. The best ones are tested: their statistic is
    :math:`\sum_{ij} \bar K^{(k)}_{ij} \bar K^{(l)}_{ij} \bar L_{ij}`, the relevance of the pair as
    a feature, and the p-value is the probability that random orders of the target reach it, or
    those of either feature, whichever is largest. Moments over all orders are exact, and a
    saddlepoint gives the tail, as in `hsic_scan`.

    A small p-value says that none of the three is independent of the other two. It does not say
    that the target is no sum of a function of each feature: such a sum is an interaction for any
    function of the target that is not linear.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame, AnnData or path of a file
        Any table that `HSICLasso` takes.
    y : array-like or str
        Target, as in `HSICLasso`; for a file or an AnnData, the name of a column.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    target : str or Target, default="auto"
        What y is, as in `HSICLasso`. Real targets are compared by their normal scores.
    among : list of str or int, default=None
        Features whose pairs are tested, by name or index; by default all.
    beside : list of str or int, default=None
        With it, pairs have one feature of `among` and one of `beside`, such as variants of two
        regions. The lists must not share a feature.
    missing : {"error", "ignore"} or Ignore, default="error"
        With ``"ignore"``, each pair is tested on the samples on which both features are observed.
    n_kept : int, default=1000
        Number of pairs that are tested.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.
    resources : Resources, default=None
        Memory that may be used, a folder in which finished work is kept, a Dask cluster.

    Returns
    -------
    HSICPairScan
        The tested pairs, with p-values and q-values; ``selected()``, ``to_frame()``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> y = np.sign(X[:, 5] * X[:, 17]) + 0.1 * rng.normal(size=200)
    >>> scan = hsic_scan_pairs(X, y)
    >>> scan.names[0], scan.n_pairs
    (('x5', 'x17'), 190)
    """
    check_whole("n_kept", n_kept)
    options = ScanOptions(kernel, target, None, missing, n_jobs=n_jobs, resources=resources)
    return scan_pairs_of(options, as_dataset(X, y), among, beside, n_kept=n_kept)


def scan_pairs_of(
    options: ScanOptions, data: Dataset, among: Any = None, beside: Any = None, *,
    n_kept: int = 1000, progress: Progress | None = None,
) -> HSICPairScan:  # fmt: skip
    """Test the pairs of the features of a table, as `hsic_scan_pairs` does."""
    inputs = prepared_scan(options, data)
    features, pairs = inputs.features, _pairs(inputs.features, among, beside)
    limit = as_resources(options.resources).bytes_allowed
    with single_threaded_blas():
        target = scan_target(inputs)
        found = scan_pairs(
            features, target, HSIC(), pairs, PairOptions(n_kept, order="p_value"),
            runner=inputs.runner, limit=None if limit is None else limit // 2, progress=progress,
        )  # fmt: skip
        tests = _tests(features, target.whole[0], found, inputs.budget.n_threads)
    statistic, p, observed = tests.T
    order = np.lexsort((-statistic, p))
    chosen = found.pairs[order]
    return HSICPairScan(
        tuple((features.name(k), features.name(j)) for k, j in chosen.tolist()),
        features.first[chosen], statistic[order], p[order],
        adjust(p[order], "bh", n_tests=pairs.number), observed[order].astype(np.int64),
        pairs.number, pairs.members.size, features.n_samples, inputs.n_dropped, found.rank,
        inputs.target.target.name,
    )  # fmt: skip


def _pairs(features: Features, among: Any, beside: Any) -> Pairs:
    """Return the pairs that are asked for."""
    find = FeatureFinder(features)
    chosen = np.arange(features.n_features) if among is None else find("among", among)
    if np.unique(chosen).size < (1 if beside is not None else 2):
        raise InvalidInputError(
            f"among names {np.unique(chosen).size} features, and a pair has two: name more."
        )
    if beside is None:
        return Pairs.of(chosen)
    others = find("beside", beside)
    both = np.intersect1d(chosen, others)
    if both.size or not others.size:
        name = f"shares {features.name(int(both[0]))!r} with among" if both.size else "is empty"
        raise InvalidInputError(
            f"beside {name}: give two lists of features that share none, or only among."
        )
    return Pairs.between(chosen, others)


def _tests(features: Features, target: FloatArray, found: Found, n_threads: int) -> FloatArray:
    """Return statistic, p-value and number of samples of each pair: (m, 3)."""
    maker = RowMaker(features, target)
    by_first = np.lexsort(found.pairs.T[::-1])
    parts = [by_first[k : k + _AT_ONCE] for k in range(0, by_first.size, _AT_ONCE)]

    def test(part: IntArray) -> FloatArray:
        numbers, places = np.unique(found.pairs[part], return_inverse=True)
        factors, scaled = maker.factors(numbers)
        seen = [one.samples.shares[0] > 0 for one in scaled]
        made = []
        for k, j in places.reshape(-1, 2).tolist():
            both = seen[k] & seen[j]
            rows = (factors[k].rows, factors[j].rows, target)
            made.append((*pair_test(*(one[:, both] for one in rows)), np.count_nonzero(both)))
        return np.array(made)

    out = np.zeros((len(found.pairs), 3))
    for part, made in zip(parts, Threads(n_threads).map(test, parts), strict=True):
        out[part] = made
    return out


def pair_test(first: FloatArray, second: FloatArray, target: FloatArray) -> tuple[float, float]:
    """Return the statistic of a pair, and its p-value.

    Parameters
    ----------
    first, second, target : ndarray of shape (r, n)
        Rows of the matrices of both features and of the target; they are centred here.
    """
    rows = [one - one.mean(axis=1, keepdims=True) for one in (first, second, target)]
    n = first.shape[1]
    if n < MIN_SAMPLES or not all(len(one) for one in rows):
        return 0.0, 1.0
    products = (rows[0][:, None] * rows[2][None]).reshape(-1, n)
    statistic = float(np.square(products @ rows[1].T).sum())
    largest = 0.0
    for permuted in range(3):
        one, other = (rows[k] for k in range(3) if k != permuted)
        largest = max(largest, _p_value(statistic, rows[permuted], _product(one, other)))
    return statistic, largest


def _product(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return few centred rows of the product of two matrices."""
    ones = np.ones(one.shape[1])
    trace = float(np.square(one).sum(axis=0) @ np.square(other).sum(axis=0))
    rows, _ = product_of_matrices(one, other, _SHARE * trace, ones)
    rows = turned(rows - rows.mean(axis=1, keepdims=True), ones)
    tails = np.cumsum(np.square(rows).sum(axis=1)[::-1])[::-1]
    return rows[: np.count_nonzero(tails > _SHARE * trace)]


def _p_value(statistic: float, permuted: FloatArray, product: FloatArray) -> float:
    """Return the p-value of the orders of one of three."""
    if not len(product):
        return 1.0
    n, both = permuted.shape[1], (permuted, product)
    grams = [rows @ rows.T for rows in both]
    one, other = (
        Spectrum.of_gram(gram, np.square(np.square(rows).sum(axis=0)).sum())
        for rows, gram in zip(both, grams, strict=True)
    )
    p = permutation_p_value(statistic, one, other, n)
    if p < CHECKED:  # sums of third order take long, and only small p-values need them
        one, other = (
            replace(spectrum, third=third_sums(rows, gram))
            for spectrum, rows, gram in zip((one, other), both, grams, strict=True)
        )
        p = permutation_p_value(statistic, one, other, n)
    return float(p)
