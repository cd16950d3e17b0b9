"""P-values for selected features that know that these features were selected."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_count,
    check_random_state,
    is_number,
    one_of,
)
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import RowSubset, Source, as_dataset, check_finite
from hsiclasso.errors import FewerFeaturesWarning, InvalidInputError
from hsiclasso.inference.hsic_estimates import (
    HSICEstimate,
    estimate_hsic,
    gram_matrices,
    random_sets,
    unbiased_hsic,
)
from hsiclasso.inference.post_selection_result import FeatureTest, PostSelectionResult
from hsiclasso.inference.selective_lasso import Line, selected_by_lasso
from hsiclasso.inference.symmetric import check_single, check_symmetric
from hsiclasso.inference.truncated import confidence_interval, survival
from hsiclasso.kernels import HSIC, Kernel, Samples, as_measure
from hsiclasso.selectors import HSICLasso
from hsiclasso.selectors.auto import refuse_auto
from hsiclasso.selectors.kernel import learn_kernel
from hsiclasso.selectors.penalties import as_penalty
from hsiclasso.selectors.pipeline import select
from hsiclasso.solvers import ExplicitProblem, nonnegative_lasso_path
from hsiclasso.targets import Values, as_target

__all__ = ["post_selection_test"]

Quantity = Literal["partial", "hsic"]
Estimator = Literal["block", "incomplete"]

#: Kinds of targets that are served.
_SERVED = ("real", "classes", "counts")
#: Samples of a set of the incomplete U-statistic.
_QUADRUPLE = 4
#: By default it cuts the samples into sets once for so many of them, but not more often than this.
_SAMPLES_EACH, _MOST_CUTS = 50, 20
#: Samples of a block by default, and at least.
_BLOCK, _LEAST_BLOCK = 10, 5
#: Sets of the second part for each feature that is tested: fewer make the covariance too noisy.
_SETS_EACH = 3
#: On the first part HSIC is averaged over blocks of so many samples.
_BLOCK_OF_FIRST = 500
#: Least ratio of eigenvalues of the redundancies.
_LEAST_EIGENVALUE = 1e-6


def post_selection_test(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    quantity: Quantity = "partial",
    n_screened: int | None = None,
    estimator: Estimator = "incomplete",
    size: int | None = None,
    split: float = 0.5,
    confidence: float = 0.9,
    random_state: Any = None,
) -> PostSelectionResult:
    r"""Test the features that HSIC Lasso selects, given that it selects them.

    The samples are split. The first part chooses which p features are looked at, how values are
    scaled, their redundancies M and the penalty :math:`\lambda`. On the second part HSIC of the p
    features with the target is estimated by H, which is asymptotically normal, and the lasso

    .. math:: \min_{a \ge 0} \tfrac12 a^\top M a - H^\top a + \lambda \textstyle\sum_k a_k

    selects some features S. A normal statistic, given which features are selected, is a truncated
    normal variable (Lee et al., 2016; Freidling et al., 2021). This gives the p-values.

    Parameters
    ----------
    selector : HSICLasso or None
        Its kernel, target and number of features are used; None is ``HSICLasso()``.
    X : table of shape (n_samples, n_features)
        Without missing values.
    y : array-like or str
        Target of values or classes, as in `HSICLasso`.
    quantity : {"partial", "hsic"}, default="partial"
        What is tested to be above 0. ``"partial"``: the feature's coefficient
        :math:`(M_{SS}^{-1} H_S)_j` among the selected features, given that exactly these were
        selected. ``"hsic"``: HSIC of the feature and the target, given that this feature was
        selected; it is 0 if and only if they are independent.
    n_screened : int, default=None
        Features p that the first part lets through, those with the largest HSIC. None is twice
        the number to select.
    estimator : {"block", "incomplete"}, default="incomplete"
        Mean over disjoint blocks, or over random sets of four samples.
    size : int, default=None
        Samples in a block, at least 5; or how often the samples are cut into sets of four. None is
        10 samples in a block, or one cut for every 50 samples, up to 20. More give more power,
        but H is then less normal.
    split : float, default=0.5
        Share of the samples in the first part.
    confidence : float, default=0.9
        Of the intervals.
    random_state : int, Generator or None, default=None
        Source of the split and of the sets.

    Returns
    -------
    PostSelectionResult

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(1000, 50, random_state=0)
    >>> result = post_selection_test(HSICLasso(4), X, y, quantity="hsic", random_state=0)
    >>> {feature.index for feature in result.features if feature.p_value < 0.05} <= set(causal)
    True
    """
    options = _Options(quantity, n_screened, estimator, size, split, confidence)
    options.check()
    check_random_state(random_state)
    selector = _checked(selector)
    data = as_dataset(X, y)
    if data.weights is not None:
        raise InvalidInputError("X has sample weights, which this test does not know.")
    check_finite(data.source)
    rng = as_generator(random_state)
    order = rng.permutation(data.source.n_samples)
    n_first = round(split * order.size)
    parts = np.sort(order[:n_first]), np.sort(order[n_first:])
    options.check_parts(*parts)
    design = _first_part(selector, data.source, data.y, parts, options)
    sets = options.sets(parts[1].size, rng)
    options.check_sets(len(sets), design.columns.size)
    H = estimate_hsic(design.hsic(sets), sets, parts[1].size)
    active = selected_by_lasso(design.M, H.mean, design.alpha)
    tested = [
        _test(design, H, active, int(k), options, data.source) for k in np.flatnonzero(active)
    ]
    return PostSelectionResult(
        features=tuple(sorted(tested, key=lambda feature: feature.p_value)),
        screened=tuple(data.source.name(int(j)) for j in design.columns),
        quantity=quantity,
        estimator=estimator,
        confidence=float(confidence),
        alpha=design.alpha,
        n_first=parts[0].size,
        n_second=parts[1].size,
        n_sets=len(sets),
    )


@dataclass(frozen=True)
class _Options:
    """The parameters of the test."""

    quantity: str
    n_screened: int | None
    estimator: str
    size: int | None
    split: float
    confidence: float

    def check(self) -> None:
        check_choice("quantity", self.quantity, ("partial", "hsic"))
        check_choice("estimator", self.estimator, ("block", "incomplete"))
        check_count("size", self.size, least=_LEAST_BLOCK if self.estimator == "block" else 1)
        check_count("n_screened", self.n_screened, least=1)
        for name in ("split", "confidence"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < 1:
                raise InvalidInputError(f"{name}={value!r} must be a number between 0 and 1.")

    def check_parts(self, first: IntArray, second: IntArray) -> None:
        """Raise if a part of the samples is too small."""
        least = 2 * (self._block if self.estimator == "block" else _QUADRUPLE)
        for name, part in (("first", first), ("second", second)):
            if part.size < least:
                raise InvalidInputError(
                    f"split={self.split} of {first.size + second.size} samples leaves "
                    f"{part.size} in the {name} part, but {least} are needed: add samples, or "
                    "change split or size."
                )

    def check_sets(self, n_sets: int, n_tested: int) -> None:
        """Raise if there are too few sets for a covariance matrix."""
        if n_sets < _SETS_EACH * n_tested:
            raise InvalidInputError(
                f"{n_sets} sets of samples for {n_tested} features, but at least {_SETS_EACH} sets "
                "are needed for each: lower n_screened, or take estimator='incomplete' with a "
                "larger size."
            )

    def sets(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return the sets of samples over which HSIC is averaged."""
        if self.estimator == "block":
            return random_sets(n, self._block, 1, rng)
        n_cuts = min(max(1, n // _SAMPLES_EACH), _MOST_CUTS)
        return random_sets(n, _QUADRUPLE, self.size or n_cuts, rng)

    @property
    def _block(self) -> int:
        return self.size or _BLOCK


@dataclass(frozen=True)
class _Design:
    """What the first part of the samples fixes, and the scaled values of the second part."""

    #: Columns that are looked at, shape (p,).
    columns: IntArray
    #: Redundancies, shape (p, p).
    M: FloatArray
    alpha: float
    #: Kernel and scaled values (q, n) of each column, then of the target.
    features: tuple[tuple[Kernel, FloatArray], ...]
    target: tuple[Kernel, FloatArray]

    def hsic(self, sets: IntArray) -> FloatArray:
        """Return unbiased estimates (m, p) of HSIC on sets (m, B) of samples."""
        return _hsic(self.features, self.target, sets)


def _hsic(features: Any, target: tuple[Kernel, FloatArray], sets: IntArray) -> FloatArray:
    L = gram_matrices(*target, sets)
    parts = [unbiased_hsic(gram_matrices(kernel, z, sets), L) for kernel, z in features]
    return np.column_stack(parts)


def _checked(given: Any) -> HSICLasso:
    """Return the selector; raise if it solves another problem than the plain lasso."""
    selector = HSICLasso() if given is None else given
    if not isinstance(selector, HSICLasso) or as_measure(selector.measure) != HSIC():
        raise InvalidInputError(
            f"selector={selector!r}, but the test is of HSIC Lasso: pass HSICLasso(m), with "
            "measure='hsic'."
        )
    refuse_auto(selector, "the test is of a plain lasso")
    check_symmetric(selector)
    check_single(selector)
    penalty = as_penalty(selector.penalty)
    if penalty.get_params() != as_penalty("lasso").get_params() or selector.alpha is not None:
        raise InvalidInputError(
            f"selector={selector!r}: the test chooses the penalty of a plain lasso itself: give "
            "n_features_to_select, and neither alpha nor another penalty."
        )
    copy: HSICLasso = clone(selector).set_params(n_neighbors=0)
    if "max_redundancy" in copy.get_params(deep=False):  # the test knows no cap
        copy.set_params(max_redundancy=1.0)
    return copy


def _first_part(
    selector: HSICLasso, source: Source, y: Any, parts: tuple[IntArray, IntArray],
    options: _Options,
) -> _Design:  # fmt: skip
    """Choose features, redundancies and penalty on the first part; scale the second."""
    first, second = (RowSubset(source, rows) for rows in parts)
    target = as_target(selector.target).prepare(y, source.n_samples)
    values = target.data
    several = isinstance(values, Values) and values.averaged and len(values.values) > 1
    if target.target.name not in _SERVED or several or target.rows is not None:
        raise InvalidInputError(
            f"y is {target.target.words}, but the test serves {one_of(_SERVED)}, without several "
            "averaged outputs and with a value on every sample: set `target`."
        )
    assert isinstance(values, Values)
    # the kind is that of all samples, whatever values a part has
    selector.set_params(target=target.target)
    with warnings.catch_warnings():  # its own choice does not matter here
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        found = select(selector, first, np.asarray(y)[parts[0]])
    problem = found.problem
    wanted = int(selector.n_features_to_select or found.selected.size)
    p = min(options.n_screened or 2 * wanted, int(np.count_nonzero(problem.varies)))
    columns = np.sort(np.argsort(-problem.relevance, kind="stable")[:p])
    M = problem.block(columns, columns) / first.n_samples**2
    _check_copies(M, source, columns)
    terms = learn_kernel(problem.features, columns, np.ones(p), problem.scaled(columns)).terms
    on_first, on_second = _scaled_target(values, *parts)
    size = min(_BLOCK_OF_FIRST, first.n_samples)
    n_blocks = first.n_samples // size
    blocks = np.arange(n_blocks * size).reshape(n_blocks, size)
    H = _hsic([(t.kernel, t.samples) for t in terms], on_first, blocks).mean(axis=0)
    norm2 = float(H @ np.linalg.solve(M, H))
    path = nonnegative_lasso_path(ExplicitProblem(M, H, norm2), max_features=min(wanted, p))
    alpha = path.alpha if H.max() > 0 else 0.0
    features = tuple((term.kernel, term.take(second)) for term in terms)
    return _Design(columns, M, alpha, features, on_second)


def _scaled_target(
    data: Values, first: IntArray, second: IntArray
) -> tuple[tuple[Kernel, FloatArray], tuple[Kernel, FloatArray]]:
    """Scale the target of both parts by the first; return its kernel and values on each."""
    values = data.compared(HSIC(), np.ones((1, data.values.shape[1])))
    z, shares = values[:, first].copy(), Samples(first.size).shares
    scaling = data.kernel.scale(z, shares, joint=True)
    kernel = data.kernel.learnt(z, shares[0])
    other = values[:, second]
    return (kernel, z), (kernel, other if kernel.of_labels else scaling.apply(other))


def _check_copies(M: FloatArray, source: Source, columns: IntArray) -> None:
    """Raise if some features are copies of others."""
    values, vectors = np.linalg.eigh(M)
    if values[0] < _LEAST_EIGENVALUE * values[-1]:
        names = [source.name(int(j)) for j in columns[np.argsort(-np.abs(vectors[:, 0]))[:2]]]
        raise InvalidInputError(
            f"{names[0]!r} is determined by other features, such as {names[1]!r}: leave one of "
            "each group of copies out, or lower n_screened."
        )


def _test(
    design: _Design, H: HSICEstimate, active: BoolArray, k: int, options: _Options, source: Source
) -> FeatureTest:
    """Test one selected feature."""
    eta = np.zeros(active.size)
    if options.quantity == "partial":
        chosen = np.flatnonzero(active)
        unit = (chosen == k).astype(np.float64)
        eta[chosen] = np.linalg.solve(design.M[np.ix_(chosen, chosen)], unit)
    else:
        eta[k] = 1.0
    variance = float(eta @ H.covariance @ eta)
    c, t, sd = H.covariance @ eta / variance, float(eta @ H.mean), float(np.sqrt(variance))
    line = Line(design.M, H.mean - c * t, c, design.alpha)
    by_model = options.quantity == "partial"
    union = line.same_model(active) if by_model else line.with_feature(k, active)
    low, high = confidence_interval(t, sd, union, options.confidence)
    column = int(design.columns[k])
    p_value = survival(t, 0.0, sd, union)
    return FeatureTest(source.name(column), column, t, sd, p_value, low, high)
