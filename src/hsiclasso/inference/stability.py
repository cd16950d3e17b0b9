"""Stability selection: what half-samples select again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_jobs,
    check_random_state,
    check_whole,
    is_number,
)
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source, as_dataset, is_container
from hsiclasso.dependence import Progress
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.bounds import (
    Assumption,
    StabilityLevels,
    check_levels,
    false_selections,
    resolve_levels,
)
from hsiclasso.inference.clusters import cluster, factors_of
from hsiclasso.inference.halves import Sampling, check_classes, draw_rows
from hsiclasso.inference.picks import Picker, check_selects, own_size, with_size
from hsiclasso.inference.shared import shared_picks
from hsiclasso.inference.stability_result import (
    StabilityResult,
    StableCluster,
    StableFeature,
    is_stable,
)
from hsiclasso.inference.symmetric import check_single
from hsiclasso.selectors import HSICLasso, Resources
from hsiclasso.selectors.auto import is_auto
from hsiclasso.selectors.estimators import ColumnSelector, LassoSelector
from hsiclasso.selectors.resources import as_resources
from hsiclasso.targets import Affinity, Classes, Graph, Prepared, Values, as_target

__all__ = ["StabilitySelection"]

_SAMPLINGS = ("complementary_pairs", "bootstrap")
_BOUNDS = ("r-concave", "unimodal", "none")
#: Threshold, and features for each half-sample, if neither the user nor the selector says.
_THRESHOLD, _MOST_FEATURES, _SHARE = 0.75, 20, 4
#: Mean similarity of a cluster, if neither the user nor the selector says.
_SIMILARITY = 0.5


class StabilitySelection(MetaEstimatorMixin, ColumnSelector):  # type: ignore[misc]
    r"""Features that a selector finds again and again on halves of the samples.

    The samples are divided into halves `n_pairs` times, and the selector runs on each. Features
    that carry the same information form a cluster, and a half-sample that selects any of them
    speaks for the cluster. A cluster is stable if a share `threshold` of the half-samples selects
    it; `selected_` has one column of each. The expected number of false selections is bounded
    (`hsiclasso.inference.bounds`).

    Of `threshold`, `n_features` and `expected_false` two give the third; all three must agree.

    Parameters
    ----------
    selector : selector, default=None
        ``HSICLasso()``, another selector of this package, or any selector of scikit-learn: an
        object with `fit` and `get_support`, such as ``SelectFromModel``.
    n_features : int, default=None
        Features that the selector is to select on each half-sample. None follows from the other
        two, or is the selector's own number, or 20 (a quarter of the features if there are fewer
        than 80). Of a selector that takes no number, or finds it (``"auto"``), it is counted.
    threshold : float, default=None
        Share of the half-samples that must select a cluster. None follows from the other two, or is
        0.75.
    expected_false : float, default=None
        Expected number of false selections that is allowed. None follows from the other two.
    n_pairs : int, default=50
        Number of complementary pairs; there are twice as many half-samples.
    sampling : {"complementary_pairs", "bootstrap"}, default="complementary_pairs"
        Pairs of halves without common samples, or samples with replacement (Bolasso), for which no
        bound is known. Each class has the same share of every sample.
    bound : {"r-concave", "unimodal", "none"}, default="r-concave"
        What the bound assumes about frequencies of features that are selected by chance. The bound
        of Meinshausen and Bühlmann is ``"none"``.
    max_redundancy : float, default=None
        Mean normalised HSIC from which features form a cluster. None is that of the selector, or
        0.5; 1 clusters equal columns only.
    random_state : int, Generator or None, default=None
    n_jobs : int, default=None
        Threads, or processes if the selector is fitted to every half-sample; None is one. The
        result is the same for any number.
    resources : Resources, default=None
        Memory and cluster for the selector on each half-sample, in place of its own.
        ``Resources(checkpoint=folder)`` keeps what finished half-samples selected: an interrupted
        fit continues there. Half-samples that share one pass over the table take about as long as
        ten to fifteen fits, and start anew.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Representatives of the stable clusters, most frequent first.
    frequencies_ : ndarray of shape (n_features,)
        Share of the half-samples that selected each column.
    result_ : StabilityResult
        Clusters, their frequencies, and the bound; ``to_frame()``, ``to_json()``.
    shared_ : bool
        Whether the half-samples shared one pass over the table.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Notes
    -----
    With HSIC Lasso, all half-samples share one pass over the table, unless options or a target with
    a few far values prevent it. Columns and target are then on the scale of all samples instead of
    that of each half, and Gram matrices have an error of some thousandths: frequencies change by
    some hundredths, which is less than they vary by chance.

    The bounds are theorems about features that half-samples select with a probability of at most
    q/p, under the assumption that is named. That they hold for clusters, which are made from the
    same samples, is shown by simulation only.

    References
    ----------
    Meinshausen and Bühlmann (2010). Stability selection. JRSS B 72(4).
    Shah and Samworth (2013). Variable selection with error control: another look at stability
    selection. JRSS B 75(1).
    Bach (2008). Bolasso: model consistent lasso estimation through the bootstrap. ICML.

    Examples
    --------
    >>> from hsiclasso import HSICLasso, StabilitySelection, make_data1
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> stable = StabilitySelection(HSICLasso(6), expected_false=1.0, random_state=0).fit(X, y)
    >>> set(stable.selected_) == set(causal)
    True
    >>> stable.result_.levels.threshold
    0.59
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        n_features: int | None = None,
        threshold: float | None = None,
        expected_false: float | None = None,
        n_pairs: int = 50,
        sampling: Sampling = "complementary_pairs",
        bound: Assumption = "r-concave",
        max_redundancy: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.selector = selector
        self.n_features = n_features
        self.threshold = threshold
        self.expected_false = expected_false
        self.n_pairs = n_pairs
        self.sampling = sampling
        self.bound = bound
        self.max_redundancy = max_redundancy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.resources = resources

    def fit(
        self, X: Any, y: Any = None, *, progress: Progress | None = None, **params: Any
    ) -> Self:
        """Select features on half-samples, and keep the stable ones.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or path of shape (n_samples, n_features)
            As the selector takes it.
        y : array-like
            Target, as the selector takes it.
        progress : callable, optional
            Called with the name of a stage, the units done and the units in all.
        **params
            Other arguments of the selector's `fit`, ``sample_weight`` or ``covariates``, with one
            entry per sample.

        Returns
        -------
        self
        """
        selector = self._check()
        check_jobs(self.n_jobs)
        data = as_dataset(X, y)
        if data.weights is not None and params.get("sample_weight") is None:
            params = {**params, "sample_weight": data.weights}
        self._set_names(X, data.source)
        table = _table(selector, X, data.source)
        cohort = _cohort(selector, data.source, data.y, params, self._inner())
        d = data.source.n_features
        selector, levels = self._plan(cohort.selector, d)
        generator = as_generator(self.random_state)
        parts = draw_rows(self.sampling, cohort.rows, cohort.classes, self.n_pairs, generator)
        picks = None
        if self.sampling == "complementary_pairs":
            picks = shared_picks(
                selector,
                data.source,
                data.y,
                parts,
                n_jobs=self.n_jobs,
                progress=progress,
                **params,
            )
        self.shared_ = picks is not None
        if picks is None:
            picker = Picker(selector, table, data.y, params, cohort.between)
            picks = picker.resume(parts, self.n_jobs, self._folder())
        chosen = np.zeros((len(parts), d), dtype=bool)
        for k, picked in enumerate(picks):
            chosen[k, picked] = True
            if progress is not None and not self.shared_:
                progress("half-samples", k + 1, len(parts))
        self._keep(chosen, data.source, selector, levels)
        return self

    def _check(self) -> Any:
        """Raise if a parameter breaks its rule; return the selector."""
        selector = HSICLasso() if self.selector is None else self.selector
        check_selects(selector)
        if isinstance(selector, LassoSelector):
            check_single(selector)
        check_whole("n_pairs", self.n_pairs, least=2)
        check_choice("sampling", self.sampling, _SAMPLINGS)
        check_choice("bound", self.bound, _BOUNDS)
        check_levels(
            self.threshold, self.n_features, self.expected_false,
            bounded=self.sampling == "complementary_pairs",
        )  # fmt: skip
        limit = self.max_redundancy
        if limit is not None and not (is_number(limit) and 0 < limit <= 1):
            raise InvalidInputError(
                f"max_redundancy={limit!r}, but a similarity from which features form a cluster "
                "lies above 0 and is at most 1, such as 0.5."
            )
        check_random_state(self.random_state)
        as_resources(self.resources)
        return selector

    def _inner(self) -> Resources | None:
        """Return what the selector may use on each half-sample."""
        given = as_resources(self.resources)
        if given.memory_limit is None and given.client is None:
            return None
        return Resources(memory_limit=given.memory_limit, client=given.client)

    def _folder(self) -> Path | None:
        folder = as_resources(self.resources).checkpoint
        return None if folder is None else Path(folder)

    def _plan(self, selector: Any, n_total: int) -> tuple[Any, StabilityLevels | None]:
        """Return the selector with its number of features, and the levels if they are known."""
        threshold, n_features, expected = self.threshold, self.n_features, self.expected_false
        from_both = threshold is not None and expected is not None
        if n_features is None and not from_both:
            n_features = own_size(selector)
            takes_number = "n_features_to_select" in selector.get_params(deep=False)
            if n_features is None and takes_number and not is_auto(selector):
                n_features = min(_MOST_FEATURES, max(1, n_total // _SHARE))
            if n_features is None:
                return selector, None  # it is counted
        if threshold is None and expected is None:
            threshold = _THRESHOLD
        if self.sampling == "bootstrap":
            assert n_features is not None
            assert threshold is not None
            _check_total(n_features, n_total)
            levels = StabilityLevels(
                threshold, n_features, None, n_total, self.n_pairs, self.bound
            )  # fmt: skip
        else:
            levels = self._levels(n_total, n_features, threshold)
        return with_size(selector, int(levels.n_features)), levels

    def _levels(
        self, n_total: int, n_features: float | None, threshold: float | None
    ) -> StabilityLevels:
        return resolve_levels(
            n_total, self.n_pairs, self.bound,
            threshold=threshold, n_features=n_features, expected_false=self.expected_false,
        )  # fmt: skip

    def _keep(
        self, chosen: BoolArray, source: Source, selector: Any, planned: StabilityLevels | None
    ) -> None:
        """Set the attributes from what each half-sample selected, (h, d)."""
        ever = np.flatnonzero(chosen.any(axis=0))
        limit = self._similarity(selector)
        groups = cluster(factors_of(source, ever), limit)
        n_units = source.n_features - ever.size + len(groups)
        levels = self._final(planned, chosen, n_units)
        frequencies = chosen.mean(axis=0)
        clusters = [
            _describe(source, ever[members], similarity, chosen, levels.threshold)
            for members, similarity in groups
        ]
        # among equals the most frequent representative, and then the first
        clusters.sort(
            key=lambda c: (-c.frequency, -c.representative.frequency, c.representative.index)
        )
        self.frequencies_: FloatArray = frequencies
        self.result_ = StabilityResult(
            tuple(clusters), levels, self.sampling, len(chosen), source.n_samples,
            source.n_features, type(selector).__name__, limit, frequencies,
        )  # fmt: skip
        self.selected_ = np.array(
            [cluster.representative.index for cluster in self.result_.selected], dtype=np.int64
        )

    def _similarity(self, selector: Any) -> float:
        """Return the similarity from which features form a cluster."""
        if self.max_redundancy is not None:
            return float(self.max_redundancy)
        own: Any = getattr(selector, "max_redundancy", None)
        return float(own) if is_number(own) and 0 < own < 1 else _SIMILARITY

    def _final(
        self, planned: StabilityLevels | None, chosen: BoolArray, n_units: int
    ) -> StabilityLevels:
        """Return the levels for clusters: a cluster counts as one feature."""
        if planned is None:
            n_features: float = float(chosen.sum(axis=1).mean())
            threshold = self.threshold
        else:
            n_features, threshold = planned.n_features, planned.threshold
        n_features = min(n_features, n_units)
        found = self.threshold is None and self.expected_false is not None
        if found and n_features > 0:
            return self._levels(n_units, n_features, None)
        threshold = _THRESHOLD if threshold is None else threshold
        bound = None
        if self.sampling == "complementary_pairs":
            bound = false_selections(n_features, n_units, threshold, self.n_pairs, self.bound)
        return StabilityLevels(threshold, n_features, bound, n_units, self.n_pairs, self.bound)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(HSICLasso() if self.selector is None else self.selector)
        tags.input_tags, tags.target_tags = own.input_tags, own.target_tags
        tags.non_deterministic = own.non_deterministic
        return tags


def _table(selector: Any, X: Any, source: Source) -> Any:
    """Return the table in the form that a selector is fitted to."""
    if isinstance(selector, LassoSelector):
        return source
    if is_container(X) or isinstance(X, np.ndarray):
        return indexable(X)[0]
    return source.read(slice(0, source.n_features))


def _check_total(n_features: float, n_total: int) -> None:
    if n_features > n_total:
        raise InvalidInputError(
            f"n_features={n_features:g} of each sample is greater than n_features={n_total} of the "
            "table: ask for fewer."
        )


@dataclass(frozen=True)
class _Cohort:
    """The samples that are divided."""

    #: The selector; one of this package knows the kind of the target from all samples.
    selector: Any
    #: Rows that are used, and their classes.
    rows: IntArray
    classes: IntArray | None
    #: Whether the target is a matrix between samples.
    between: bool


def _cohort(
    selector: Any, source: Source, y: Any, params: dict[str, Any], resources: Resources | None
) -> _Cohort:
    """Find out which samples can be drawn, and the classes that each half must have."""
    n, use = source.n_samples, None
    if params.get("sample_weight") is not None:
        use = np.broadcast_to(np.asarray(params["sample_weight"], dtype=np.float64) > 0, n)
    is_own = isinstance(selector, LassoSelector)
    prepared = _prepared(selector, y, n, use) if is_own or y is not None else None
    target = None if prepared is None else prepared.target
    used = use if prepared is None or not is_own or prepared.rows is None else prepared.rows
    rows = np.arange(n) if used is None else np.flatnonzero(used)
    classes = None
    if isinstance(target, Classes) and prepared is not None and isinstance(prepared.data, Values):
        codes = prepared.data.values
        if codes.shape[1] == rows.size:
            classes = np.unique(codes, axis=1, return_inverse=True)[1].ravel()
            # whole numbers that were not said to be classes may have rare values
            if isinstance(as_target(getattr(selector, "target", "auto")), Classes) or not _numeric(
                y
            ):
                check_classes(classes)
    if is_own:
        # the kind of the target is the same on every half, whatever values a half has; what makes
        # up the number where the path ends says nothing about stability
        given = {"target": target, "resources": resources, "n_neighbors": 0, "fill": False}
        known = selector.get_params(deep=False)
        selector = clone(selector).set_params(**{k: v for k, v in given.items() if k in known})
    return _Cohort(selector, rows, classes, isinstance(target, Affinity | Graph))


def _numeric(y: Any) -> bool:
    """Whether a target holds numbers."""
    return np.asarray(y).dtype.kind in "iuf"


def _prepared(selector: Any, y: Any, n: int, use: BoolArray | None) -> Prepared | None:
    """Return the target of a selector of this package, or what it looks like for another."""
    if isinstance(selector, LassoSelector):
        return as_target(selector.target).prepare(y, n, use)
    try:
        return as_target("auto").prepare(y, n, use)
    except ValueError:  # another selector may know what to do with it
        return None


def _describe(
    source: Source, columns: IntArray, similarity: FloatArray, chosen: BoolArray, threshold: float
) -> StableCluster:
    """Describe one cluster of columns."""
    picks = chosen[:, columns]
    counts = picks.sum(axis=0)
    order = np.lexsort((columns, -counts))
    top = int(order[0])
    n = len(chosen)
    features = [
        StableFeature(
            source.name(int(columns[k])), int(columns[k]), float(counts[k] / n),
            float(similarity[k, top]),
        )
        for k in order.tolist()
    ]  # fmt: skip
    frequency = float(picks.any(axis=1).mean())
    stable = is_stable(frequency, threshold)
    return StableCluster(frequency, stable, features[0], tuple(features[1:]))
