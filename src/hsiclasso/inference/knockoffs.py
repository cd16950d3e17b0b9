"""Selection with a bound on the false discovery rate: features against their knockoffs."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_flag,
    check_jobs,
    check_random_state,
    check_whole,
    is_number,
)
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source, as_dataset, check_finite
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    KnockoffWarning,
)
from hsiclasso.inference.gaussian_knockoffs import KnockoffModel, Method, shrunk_correlation
from hsiclasso.inference.knockoff_filter import average_e_values, e_bh
from hsiclasso.inference.knockoff_result import KnockoffResult, ranked
from hsiclasso.inference.symmetric import check_single, check_symmetric
from hsiclasso.selectors import AlphaRatio, HSICLasso
from hsiclasso.selectors.auto import refuse_auto
from hsiclasso.selectors.estimators import ColumnSelector, LassoSelector
from hsiclasso.targets.values import transformed

__all__ = ["KnockoffSelection"]

#: Most columns: time grows with their third power, 10 to 40 seconds for 3,000.
_MOST_COLUMNS = 3000
#: By default the path has at least so many features, and one for so many samples.
_LEAST_FEATURES, _SAMPLES_EACH = 50, 8
#: By default the path ends at this share of the largest penalty, if not before.
_LEAST_SHARE = 0.01
#: Columns with a larger correlation are copies of each other.
_COPY = 0.95
#: A column with so few different values is far from any normal one.
_FEW_VALUES = 20


class KnockoffSelection(MetaEstimatorMixin, ColumnSelector):  # type: ignore[misc]
    r"""Select features with a bound on the false discovery rate, by Model-X knockoffs.

    A knockoff is a copy of a column that keeps its correlations with the others and knows nothing
    of the target. The selector is fitted to columns and knockoffs together, and :math:`W_j` is the
    weight of column j on its path less that of its knockoff. Knockoff+ finds the threshold.

    A false discovery is a feature that is independent of the target given all others. The bound
    is a theorem if the knockoffs are exact, which means normal columns with a known covariance.
    Here it is estimated, so the bound is approximate; the guide has measured rates.

    One draw selects at least 1/q features, or none: with q = 0.1 and fewer than ten causal
    features it finds nothing. Nor are close copies found, because their knockoffs resemble them.

    Parameters
    ----------
    selector : HSICLasso, NOCCOLasso or EmbeddingLasso, default=None
        Selector; None is ``HSICLasso()``. Unless it says where to stop, its path goes to
        max(50, n / 8) features, or to 1% of the largest penalty.
    q : float, default=0.1
        Bound on the false discovery rate.
    method : {"mvr", "equicorrelated"}, default="mvr"
        How unlike its original each knockoff is made. ``"mvr"`` minimises how well a column can
        be reconstructed from all others (Spector and Janson, 2022).
    normal_scores : bool, default=True
        Whether columns are replaced by their normal scores, the normal quantiles of their ranks,
        which suits any continuous columns. Otherwise they are only standardised.
    n_draws : int, default=1
        Draws of knockoffs. With several, the answer depends less on chance: their e-values are
        averaged (Ren and Barber, 2024). This takes more causal features than one draw.
    draw_level : float, default=None
        Level of each draw. None is q for one draw, and q/2 for several.
    random_state : int, Generator or None, default=None
        Source of the knockoffs.
    n_jobs : int, default=None
        Processes over draws; None is one. The answer is the same for any number.

    Attributes
    ----------
    selected_ : ndarray
        Selected columns, by decreasing e-value and statistic; it may be empty.
    result_ : KnockoffResult
        Statistics, e-values and thresholds; ``to_frame()``, ``to_dict()``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    References
    ----------
    Candes, Fan, Janson and Lv (2018). Panning for gold: Model-X knockoffs for high dimensional
    controlled variable selection. Journal of the Royal Statistical Society B 80(3).

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso import KnockoffSelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 30))
    >>> y = np.abs(X[:, :12]).sum(axis=1)
    >>> set(KnockoffSelection(q=0.2, random_state=0).fit(X, y).selected_) >= set(range(12))
    True
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        q: float = 0.1,
        method: Method = "mvr",
        normal_scores: bool = True,
        n_draws: int = 1,
        draw_level: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.q = q
        self.method = method
        self.normal_scores = normal_scores
        self.n_draws = n_draws
        self.draw_level = draw_level
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw knockoffs and select.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or file of shape (n_samples, n_features)
            Numbers, without missing values. It is read as a whole.
        y : array-like or str
            Target, as in `HSICLasso`.

        Returns
        -------
        self
        """
        level = self._check()
        selector = _checked_selector(self.selector)
        data = as_dataset(X, y)
        if data.weights is not None:
            raise InvalidInputError(
                "X has sample weights, which knockoffs do not know: read the table without them."
            )
        source = data.source
        _check_table(source, self.q)
        self._set_names(X, source)
        Z, varies = _scores(source, normal=self.normal_scores)
        rng = as_generator(self.random_state)
        seeds = rng.integers(2**63, size=self.n_draws)
        if selector.n_features_to_select is None and selector.alpha is None:
            most = max(_LEAST_FEATURES, source.n_samples // _SAMPLES_EACH)
            selector.set_params(
                n_features_to_select=min(2 * Z.shape[1], most), alpha=AlphaRatio(_LEAST_SHARE)
            )
        _warn_of_copies(source, np.flatnonzero(varies), Z)
        model = KnockoffModel.of(shrunk_correlation(Z), self.method)
        draws = Parallel(n_jobs=self.n_jobs)(
            delayed(_draw)(selector, model, Z, data.y, int(seed)) for seed in seeds
        )
        statistics = np.zeros((self.n_draws, source.n_features))
        statistics[:, varies] = np.array(draws)
        similarity = np.ones(source.n_features)
        similarity[varies] = 1 - model.s
        self._conclude(source, statistics, similarity, level)
        return self

    def _check(self) -> float:
        """Check the parameters; return the level of each draw."""
        for name in ("q", "draw_level"):
            value = getattr(self, name)
            if not (value is None and name == "draw_level") and not _is_level(value):
                raise InvalidInputError(
                    f"{name}={value!r} must be a number between 0 and 1, such as 0.1."
                )
        check_choice("method", self.method, ("mvr", "equicorrelated"))
        check_flag("normal_scores", self.normal_scores)
        check_whole("n_draws", self.n_draws)
        check_random_state(self.random_state)
        check_jobs(self.n_jobs)
        if self.draw_level is not None:
            return float(self.draw_level)
        return self.q if self.n_draws == 1 else self.q / 2

    def _conclude(
        self, source: Source, statistics: FloatArray, similarity: FloatArray, level: float
    ) -> None:
        """Select by the statistics (n_draws, d), and set the fitted attributes."""
        thresholds, values = average_e_values(statistics, level)
        chosen, e_threshold = e_bh(values, self.q)
        order = ranked(values, statistics.mean(axis=0))
        self.selected_ = order[np.isin(order, chosen)]
        self.result_ = KnockoffResult(
            names=tuple(source.name(j) for j in range(source.n_features)),
            selected=tuple(self.selected_.tolist()),
            statistics=statistics,
            thresholds=thresholds,
            e_values=values,
            e_threshold=e_threshold,
            similarity=similarity,
            q=float(self.q),
            draw_level=float(level),
            method=self.method,
            n_samples=source.n_samples,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        selector = HSICLasso() if self.selector is None else self.selector
        tags.input_tags.sparse = True
        tags.target_tags = get_tags(selector).target_tags
        return tags


def _is_level(value: Any) -> bool:
    return is_number(value) and 0 < value < 1


def _checked_selector(given: Any) -> LassoSelector:
    """Return a copy of the selector that treats a column and its knockoff alike."""
    selector = HSICLasso() if given is None else given
    if not isinstance(selector, LassoSelector):
        raise InvalidInputError(
            f"selector={selector!r} is no selector with a path: pass HSICLasso, NOCCOLasso or "
            "EmbeddingLasso."
        )
    refuse_auto(selector, "knockoffs are tests of their own")
    check_symmetric(selector)
    check_single(selector)
    if getattr(selector.resources, "checkpoint", None) is not None:
        raise InvalidInputError(
            "selector has a checkpoint, which is for one table, but each draw of knockoffs makes "
            "another: leave it out."
        )
    copy: LassoSelector = clone(selector).set_params(n_neighbors=0)
    if "max_redundancy" in copy.get_params(deep=False):  # a knockoff resembles its original
        copy.set_params(max_redundancy=1.0)
    return copy


def _check_table(source: Source, q: float) -> None:
    """Raise if there can be no knockoffs of a table, and warn if they can select nothing."""
    d = source.n_features
    if d > _MOST_COLUMNS:
        raise InvalidInputError(
            f"X has {d:,} columns, but knockoffs of more than {_MOST_COLUMNS:,} take too long, "
            "because time grows with the third power of this number: screen first, on other "
            "samples than those that you pass here, as with "
            f"HSICLasso({min(1000, _MOST_COLUMNS)}).fit(X[:m], y[:m])."
        )
    labels = (j for j in range(d) if source.kind(j) in ("category", "text"))
    label = next(labels, None)
    if label is not None:
        raise InvalidInputError(
            f"column {source.name(label)!r} holds labels, but knockoffs are made of numbers: drop "
            "it, or encode it."
        )
    check_finite(source)
    if d * q < 1:
        warnings.warn(
            f"X has {d} columns, but with q={q:g} knockoffs select at least 1/q = {1 / q:.0f} "
            "features or none, so they cannot select anything here. Raise q.",
            KnockoffWarning,
            stacklevel=3,
        )


def _scores(source: Source, *, normal: bool) -> tuple[FloatArray, BoolArray]:
    """Return the columns that vary, standardised, and tell which these are."""
    X = source.block(slice(None))
    varies = np.any(X[0] != X, axis=0)
    if not varies.any():
        raise InvalidInputError(f"X has {source.n_features} columns and none varies.")
    if not varies.all():
        constant = [source.name(j) for j in np.flatnonzero(~varies)[:5].tolist()]
        warnings.warn(
            f"{np.count_nonzero(~varies)} of {varies.size} columns do not vary and are not "
            f"selected: {', '.join(constant)}",
            ConstantFeatureWarning,
            stacklevel=3,
        )
    X = X[:, varies]
    few = np.array([np.unique(x).size < _FEW_VALUES for x in X.T])
    if few.any() and len(X) >= _FEW_VALUES:
        first = source.name(int(np.flatnonzero(varies)[few][0]))
        warnings.warn(
            f"{np.count_nonzero(few)} columns have fewer than {_FEW_VALUES} different values, such "
            f"as {first!r}. Their knockoffs are normal, so the bound on false discoveries does not "
            "hold for them.",
            KnockoffWarning,
            stacklevel=3,
        )
    if normal:
        X = np.column_stack([transformed(x, "normal") for x in X.T])
    X = X / np.abs(X).max(axis=0)  # squares of very small or large numbers leave the doubles
    X = X - X.mean(axis=0)
    return X / X.std(axis=0), varies


def _warn_of_copies(source: Source, columns: IntArray, Z: FloatArray) -> None:
    close = np.abs(Z.T @ Z) > _COPY * len(Z)
    np.fill_diagonal(close, False)
    copies = columns[close.any(axis=0)]
    if copies.size:
        names = ", ".join(source.name(int(j)) for j in copies[:5])
        warnings.warn(
            f"{copies.size} columns are close copies of others, with a correlation above {_COPY}: "
            f"{names}{', ...' if copies.size > 5 else ''}. An original cannot be told from its "
            "copy: they are hardly found, or with false ones. Keep one of each group.",
            KnockoffWarning,
            stacklevel=3,
        )


def _draw(
    selector: LassoSelector, model: KnockoffModel, Z: FloatArray, y: Any, seed: int
) -> FloatArray:
    """Return the statistics (d,) of one draw of knockoffs."""
    rng = np.random.default_rng(seed)
    pairs = np.stack([Z, model.sample(Z, rng)])
    # a random one of each pair comes first, so that ties do not favour originals
    first = rng.integers(2, size=Z.shape[1])
    columns = np.arange(Z.shape[1])
    table = np.hstack([pairs[first, :, columns].T, pairs[1 - first, :, columns].T])
    with warnings.catch_warnings():
        # features that make up a number have weight 0, and do not count
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        fitted = clone(selector).fit(table, y)
    weights = np.abs(fitted.path_.coefficients()).reshape(2, -1)
    return np.asarray((weights[0] - weights[1]) * np.where(first == 0, 1.0, -1.0))
