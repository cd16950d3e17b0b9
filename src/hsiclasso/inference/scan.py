"""Tests of independence for one feature and for all features of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import as_generator, check_random_state, check_whole
from hsiclasso._types import FloatArray
from hsiclasso.data import Dataset, as_dataset, is_container
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.dependence import Features, Progress
from hsiclasso.dependence.relate import each_result, scan
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.multiple import adjust
from hsiclasso.inference.null_pass import NullPass
from hsiclasso.inference.permutation import MIN_SAMPLES
from hsiclasso.inference.results import HSICScan, HSICTest
from hsiclasso.kernels import Delta, Embedding, Factor, as_kernel
from hsiclasso.selectors import HSICLasso, Resources
from hsiclasso.selectors.prepare import Inputs, check_options, prepare
from hsiclasso.targets.gridded import GriddedTarget
from hsiclasso.targets.matrix import DENSE, FactoredTarget, together

__all__ = [
    "ScanOptions",
    "check_scan",
    "hsic_scan",
    "hsic_test",
    "prepared_scan",
    "scan_table",
    "scan_target",
]

#: Orders of the target that are compared with the features in one pass, and the most numbers of
#: their rows that are kept in memory.
_ORDERS_AT_ONCE, _MOST_NUMBERS = 100, 1 << 26
#: p-values of the same order of the samples may differ by so much, relatively.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class ScanOptions:
    """The parameters of `hsic_scan`, which documents them."""

    kernel: Any = "auto"
    target: Any = "auto"
    joint: Mapping[str, Sequence[str | int]] | None = None
    missing: Any = "error"
    n_permutations: int = 0
    random_state: Any = None
    n_jobs: int | None = -1
    resources: Resources | None = None


def hsic_scan(
    X: Any,
    y: Any = None,
    *,
    kernel: Any = "auto",
    target: Any = "auto",
    joint: Mapping[str, Sequence[str | int]] | None = None,
    missing: Any = "error",
    n_permutations: int = 0,
    random_state: Any = None,
    n_jobs: int | None = -1,
    resources: Resources | None = None,
) -> HSICScan:
    r"""Test every feature of a table for independence of a target, in one pass.

    The statistic of a feature is :math:`\langle \bar K_k, \bar L\rangle`, n squared times HSIC. Its
    p-value is the probability that a random order of the samples reaches it. No orders are drawn:
    the mean, variance and skewness over all of them are exact, and a saddlepoint approximation
    gives the tail. Time and memory are linear in the number of samples.

    The null hypothesis is that feature and target are independent, and that samples are drawn
    independently of each other. A small p-value does not say that a feature is needed beside
    others: copies of a relevant feature have small p-values too. Weights of samples and covariates
    have no p-values here, because the orders of weighted or related samples are not equally likely.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame, AnnData or path of a file
        Any table that `HSICLasso` takes; tables that are not in memory are read by chunks.
    y : array-like or str
        Target, as in `HSICLasso`; for a file or an AnnData, the name of a column.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    target : str or Target, default="auto"
        What y is, as in `HSICLasso`. Real targets are compared by their normal scores;
        ``Real(transform=None)`` takes the values.
    joint : mapping of str to columns, default=None
        Features made of several columns under one kernel.
    missing : {"error", "ignore"} or Ignore, default="error"
        With ``"ignore"``, each feature is tested on the samples on which it is observed.
    n_permutations : int, default=0
        Number of random orders of the target for family-wise p-values, such as 999. A hundred of
        them take one more pass over the table.
    random_state : int, Generator or None, default=None
        Source of these orders.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.
    resources : Resources, default=None
        Memory that may be used, a folder in which finished work is kept, a Dask cluster.

    Returns
    -------
    HSICScan
        Statistics, p-values and q-values; ``selected()``, ``to_frame()``.

    Examples
    --------
    >>> from hsiclasso import hsic_scan, make_data1
    >>> X, y, causal = make_data1(200, 500, random_state=0)
    >>> scan = hsic_scan(X, y)
    >>> scan.p_value.shape
    (500,)
    >>> set(scan.selected("fdr", 0.01)) <= set(causal)
    True
    """
    options = ScanOptions(
        kernel, target, joint, missing, n_permutations, random_state, n_jobs, resources
    )
    return scan_table(options, as_dataset(X, y))


def hsic_test(x: Any, y: Any, *, kernel: Any = "auto", target: Any = "auto") -> HSICTest:
    r"""Test whether two variables are independent, in time linear in the number of samples.

    The statistic is :math:`\langle \bar K, \bar L\rangle`, n squared times HSIC. The p-value is the
    probability that a random order of the samples reaches it; see `hsic_scan`.

    Parameters
    ----------
    x : array-like of shape (n_samples,) or (n_samples, q)
        Numbers, booleans, categories or text; several columns are one variable under one kernel.
    y : array-like of shape (n_samples,) or (n_samples, p)
        The other variable: anything that `HSICLasso` takes as a target.
    kernel : str or Kernel, default="auto"
        Kernel of x: ``"auto"`` is Gaussian of width 1 on standardised numbers, plain delta on
        labels.
    target : str or Target, default="auto"
        What y is, and its kernel. Real values are compared by their normal scores;
        ``Real(transform=None)`` takes the values.

    Returns
    -------
    HSICTest

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = np.cos(3 * x) + rng.normal(size=500)
    >>> hsic_test(x, y).p_value < 1e-6
    True
    >>> hsic_test(x, rng.normal(size=500)).p_value > 0.01
    True
    """
    if is_container(x) and np.ndim(x) == 2:
        columns = x
    else:
        columns, kernel = _one_column(x, kernel)
    data = as_dataset(columns, y)
    width = data.source.n_features
    joint = {"x": list(range(width))} if width > 1 else None
    found = scan_table(ScanOptions(kernel, target, joint, n_jobs=1), data)
    return HSICTest(
        float(found.statistic[0]), float(found.p_value[0]), found.n_samples, found.target
    )


def scan_table(options: ScanOptions, data: Dataset, progress: Progress | None = None) -> HSICScan:
    """Test every feature of a table, as `hsic_scan` does."""
    inputs = prepared_scan(options, data)
    with single_threaded_blas():
        target = scan_target(inputs)
        work = NullPass(inputs.features, target)
        found, _ = scan(work, inputs.runner, progress, "test", 0, inputs.budget)
        result = found.result
        varies = result.varies
        p = np.where(varies, result.relevance[:, 1], 1.0)
        family = None
        if options.n_permutations:
            _check_complete(inputs.features, result.observed)
            rng = as_generator(options.random_state)
            smallest = _smallest(inputs, target, options.n_permutations, rng, progress)
            reached = np.searchsorted(np.sort(smallest), p * (1 + _ROUNDING), side="right")
            family = np.where(varies, (1 + reached) / (1 + smallest.size), 1.0)
    q = np.ones(p.size)
    q[varies] = adjust(p[varies], "bh")
    features = inputs.features
    return HSICScan(
        tuple(features.name(k) for k in range(features.n_features)), features.first,
        result.relevance[:, 0], p, q, family, varies, result.observed, features.n_samples,
        inputs.n_dropped, inputs.target.target.name,
    )  # fmt: skip


def _one_column(x: Any, kernel: Any) -> tuple[Any, Any]:
    """Return a variable as a table of one column, and its kernel."""
    if hasattr(x, "to_frame"):  # a series
        return x.to_frame(), kernel
    values = np.asarray(x)
    if values.ndim != 1:
        raise InvalidInputError(
            f"x has shape {values.shape}: pass one value, or one row of values, for each sample."
        )
    if values.dtype.kind not in "US":
        return values[:, None], kernel
    kernel = Delta(by_count=False) if isinstance(kernel, str) and kernel == "auto" else kernel
    if not as_kernel(kernel).of_labels:
        raise InvalidInputError(
            f"kernel={kernel!r} cannot compare labels, which x holds: use kernel='auto' or 'delta'."
        )
    return np.unique(values, return_inverse=True)[1].astype(np.float64)[:, None], kernel


def check_scan(options: ScanOptions) -> None:
    """Raise if a parameter breaks its rule, whatever the table."""
    check_whole("n_permutations", options.n_permutations, least=0)
    check_random_state(options.random_state)
    check_options(_selector(options))


def _selector(options: ScanOptions) -> HSICLasso:
    """Return a selector with the same parameters, which are checked and prepared in one place."""
    names = ("kernel", "target", "joint", "missing", "n_jobs", "resources")
    return HSICLasso(**{name: getattr(options, name) for name in names})


def prepared_scan(options: ScanOptions, data: Dataset) -> Inputs:
    """Check everything, before any long work."""
    check_scan(options)
    if data.weights is not None:
        raise InvalidInputError(
            "X has sample weights, and weighted samples have no permutation p-values, because "
            "their orders are not equally likely: read the table without weights."
        )
    inputs = prepare(_selector(options), data.source, data.y)
    features = inputs.features
    if features.n_samples < MIN_SAMPLES:
        raise InvalidInputError(
            f"n_samples={features.n_samples}, but p-values need {MIN_SAMPLES} samples or more: add "
            "rows."
        )
    if any(kernel.has_recursion for kernel in features.kernels) and features.n_samples > DENSE:
        raise InvalidInputError(
            f"Laplace kernels have no factor of low rank, and there are {features.n_samples} "
            f"samples: take kernel='matern', or at most {DENSE} samples."
        )
    if features.least_observed:
        least = max(features.least_observed, MIN_SAMPLES)
        features = replace(features, least_observed=least)
    return replace(inputs, features=features)


def scan_target(inputs: Inputs) -> FactoredTarget:
    """Return the target's matrix as rows, of normal scores if a real target leaves it open."""
    features = inputs.features
    target = inputs.target.data.matrix(
        Embedding().of_target(), features.samples, error=features.gram_error,
        n_features=features.n_features,
    )  # fmt: skip
    if isinstance(target, GriddedTarget):
        target = target.made
    if not isinstance(target, FactoredTarget) or (target.signs <= 0).any():
        raise InvalidInputError(
            f"target={inputs.target.target.name!r} has a matrix without a factor of low rank here, "
            "and p-values need its eigenvalues: take another kernel or kind of target."
        )
    if not target.norm2 > 0:
        raise InvalidInputError("The target does not vary: nothing can depend on it.")
    return target


def _check_complete(features: Features, observed: Any) -> None:
    """Raise if a feature has missing values."""
    gaps = np.flatnonzero((observed < features.n_samples) & (observed > 0))
    if gaps.size:
        raise InvalidInputError(
            f"n_permutations needs complete features, and {features.name(int(gaps[0]))!r} has "
            "missing values: leave such features out, or leave n_permutations out."
        )


def _smallest(
    inputs: Inputs, target: FactoredTarget, number: int, rng: np.random.Generator,
    progress: Progress | None,
) -> FloatArray:  # fmt: skip
    """Return the smallest p-value of any feature for each of some random orders of the target."""
    rows = target.whole[0]
    at_once = max(1, min(_ORDERS_AT_ONCE, _MOST_NUMBERS // rows.size))
    found = []
    for start in range(0, number, at_once):
        size = min(at_once, number - start)
        orders = np.array([rng.permutation(rows.shape[1]) for _ in range(size)])
        factors = [Factor(rows[:, order], np.zeros(len(rows)), 0.0) for order in orders]
        work = NullPass(inputs.features, together(factors))
        stage = f"permutations {hash_of(orders)}"
        smallest = np.ones(size)
        for part in each_result(work, inputs.runner, progress, stage, inputs.budget):
            p = part.relevance[part.varies, size:]
            smallest = np.minimum(smallest, p.min(axis=0, initial=1.0))
        found.append(smallest)
    return np.concatenate(found)
