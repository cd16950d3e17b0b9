"""The two functions of mrmr_selection 0.2, on the mRMR of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso._checks import check_flag, check_whole
from hsiclasso._types import FloatArray
from hsiclasso.baselines import MRMR
from hsiclasso.compat.tables import is_frame
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.targets import Real

__all__ = ["mrmr_classif", "mrmr_regression"]

#: Least redundancy, as mrmr_selection has it.
_FLOOR = 1e-3
#: What is served of the arguments of mrmr_selection.
_SERVED = {"relevance": "f", "redundancy": "c", "denominator": "mean", "only_same_domain": False}


def mrmr_classif(
    X: Any,
    y: Any,
    K: int,
    relevance: str = "f",
    redundancy: str = "c",
    denominator: str = "mean",
    cat_features: Any = None,
    cat_encoding: str = "leave_one_out",
    only_same_domain: bool = False,
    return_scores: bool = False,
    **threads: Any,
) -> Any:
    """Select features for classes by minimum redundancy and maximum relevance.

    It selects what mrmr_selection does with its defaults: the F-test is the relevance, the mean
    absolute correlation with the features selected before the redundancy, and the largest quotient
    wins. ``MRMR(K, scheme="quotient", measure="f")`` is the selector behind it.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        Numbers without missing values.
    y : array-like of shape (n_samples,)
        Classes.
    K : int
        Number of features. There are fewer if fewer have a relevance above 0.
    relevance : {"f"}, default="f"
        The F-test; others of mrmr_selection are refused.
    redundancy : {"c"}, default="c"
        Pearson's correlation; others are refused.
    denominator : {"mean"}, default="mean"
        The mean of the correlations; others are refused.
    cat_features : None, default=None
        Columns of labels are refused: encode them before.
    cat_encoding : str, default="leave_one_out"
        Without meaning, because there are no columns of labels.
    only_same_domain : {False}, default=False
        True is refused.
    return_scores : bool, default=False
        Whether to return relevance and redundancy too, as pandas objects.
    **threads
        ``n_jobs``, number of threads, by default -1 for all cores; and ``show_progress`` of
        mrmr_selection: no progress bar is shown here.

    Returns
    -------
    list
        Names of the selected columns, best first; of an array, their numbers. With
        `return_scores`, a tuple of this list, the relevance of each feature, and the absolute
        correlations of features with those selected before them.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.compat import mrmr_classif
    >>> X, y, causal = make_data1(200, 20, random_state=0)
    >>> len(mrmr_classif(X, y > 0, 3))
    3
    """
    _check(
        relevance=relevance, redundancy=redundancy, denominator=denominator,
        cat_features=cat_features, only_same_domain=only_same_domain,
    )  # fmt: skip
    n_jobs = _n_jobs(**threads)
    return _select(X, y, K, "classes", n_jobs, return_scores=return_scores)


def mrmr_regression(
    X: Any,
    y: Any,
    K: int,
    relevance: str = "f",
    redundancy: str = "c",
    denominator: str = "mean",
    cat_features: Any = None,
    cat_encoding: str = "leave_one_out",
    only_same_domain: bool = False,
    return_scores: bool = False,
    **threads: Any,
) -> Any:
    """Select features for a real target by minimum redundancy and maximum relevance.

    Parameters
    ----------
    X, y, K, relevance, redundancy, denominator, cat_features, cat_encoding
        As for `mrmr_classif`; y has numbers.
    only_same_domain, return_scores, **threads
        As for `mrmr_classif`.

    Returns
    -------
    list or tuple
        As from `mrmr_classif`.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.compat import mrmr_regression
    >>> X, y, causal = make_data1(200, 20, random_state=0)
    >>> len(mrmr_regression(X, y, 3))
    3
    """
    _check(
        relevance=relevance, redundancy=redundancy, denominator=denominator,
        cat_features=cat_features, only_same_domain=only_same_domain,
    )  # fmt: skip
    n_jobs = _n_jobs(**threads)
    return _select(X, y, K, Real(transform=None), n_jobs, return_scores=return_scores)


def _check(**given: Any) -> None:
    """Raise for what the mRMR behind these functions does not do."""
    if given.pop("cat_features"):
        raise InvalidInputError(
            "cat_features: columns of labels are not encoded here; encode them before, or use "
            "hsiclasso.HSICLasso, which compares labels as they are."
        )
    for name, value in given.items():
        if not isinstance(value, type(_SERVED[name])) or value != _SERVED[name]:
            raise InvalidInputError(
                f"{name}={value!r}, but only {_SERVED[name]!r} is served here: "
                "hsiclasso.baselines.MRMR has other measures, such as mutual information."
            )


def _n_jobs(n_jobs: int | None = -1, show_progress: bool = True) -> int | None:
    """Return the number of threads; there is no progress to show."""
    return n_jobs


def _select(X: Any, y: Any, K: int, target: Any, n_jobs: Any, *, return_scores: bool) -> Any:
    check_whole("K", K)
    check_flag("return_scores", return_scores)
    shape = np.shape(X)
    most = min(K, shape[1]) if len(shape) == 2 else K
    selector = MRMR(most, scheme="quotient", measure="f", target=target, n_jobs=n_jobs).fit(X, y)
    names = list(X.columns) if is_frame(X) else list(range(selector.n_features_in_))
    relevant = selector.relevance_ > 0
    chosen = [k for k in selector.selected_.tolist() if relevant[k]]
    selected = [names[k] for k in chosen]
    if not return_scores:
        return selected
    pandas = require("pandas", "pandas")
    left = np.flatnonzero(relevant)
    labels = [names[k] for k in left]
    values = _redundancies(np.asarray(X, dtype=np.float64)[:, left], left.tolist(), chosen)
    return (
        selected,
        pandas.Series(selector.relevance_[left], index=labels),
        pandas.DataFrame(values, index=labels, columns=labels),
    )


def _redundancies(X: FloatArray, columns: list[int], chosen: list[int]) -> FloatArray:
    """Absolute correlations with features that were chosen before; elsewhere the floor.

    The last one is compared with nothing, because nothing is chosen after it.
    """
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    places = [columns.index(k) for k in chosen]
    made = np.full((len(columns), len(columns)), _FLOOR)
    for step, place in enumerate(places[:-1]):
        open_ = np.setdiff1d(np.arange(len(columns)), places[: step + 1])
        correlations = np.abs(z[:, open_].T @ z[:, place]) / len(z)
        made[open_, place] = np.maximum(correlations, _FLOOR)
    return made
