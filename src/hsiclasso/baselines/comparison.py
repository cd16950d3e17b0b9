"""Several methods on one table: what each selects, how long it takes, how far they agree."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from hsiclasso._checks import check_count
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline, n_wanted
from hsiclasso.baselines.contest import Folds, residuals
from hsiclasso.baselines.job import Report
from hsiclasso.baselines.registry import METHODS, traits_of
from hsiclasso.baselines.result import Plain
from hsiclasso.data import Source, as_dataset, is_container
from hsiclasso.errors import ConstantFeatureWarning, InvalidInputError, SuspectColumnWarning
from hsiclasso.selectors.columns import close_matches

__all__ = ["RECORD_FIELDS", "Comparison", "Outcome", "compare"]

#: Names of the values of `Comparison.to_rows`.
RECORD_FIELDS = ("method", "rank", "name", "index", "score")
#: Stands for 0 in a denominator.
_TINY = float(np.finfo(np.float64).tiny)
#: Warnings about the table, whatever the method.
_OF_TABLE = (ConstantFeatureWarning, SuspectColumnWarning)


@dataclass(frozen=True)
class Outcome:
    """What one method selected.

    Attributes
    ----------
    method, title : str
        Its name in `hsiclasso.baselines.METHODS`, and its usual one.
    features : tuple of str
        Names of the selected features, best first.
    indices : tuple of int
        Their columns.
    scores : tuple of float
        Their scores, which are not comparable between methods.
    seconds : float
        Time of the fit; the first fit in a process may load compiled code.
    redundancy : float or None
        Mean absolute correlation between pairs of the selected features.
    skipped : str
        Why the method did not run; empty if it did.
    score, score_error, stability : float or None
        With `cv`: mean score of the downstream model, its standard error, and the mean share of
        common features (Jaccard) of the selections on the training parts of two folds.
    adjusted : {"", "itself", "residuals"}
        How covariates were removed: by the method, or from the numbers that it was given.
    """

    method: str
    title: str
    features: tuple[str, ...] = ()
    indices: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    seconds: float = 0.0
    redundancy: float | None = None
    skipped: str = ""
    score: float | None = None
    score_error: float | None = None
    stability: float | None = None
    adjusted: str = ""


@dataclass(frozen=True)
class Comparison(Plain):
    """What several methods selected.

    Attributes
    ----------
    outcomes : tuple of Outcome
    n_samples, n_features, n_requested : int
    """

    outcomes: tuple[Outcome, ...]
    n_samples: int
    n_features: int
    n_requested: int
    columns: ClassVar[tuple[str, ...]] = RECORD_FIELDS

    @property
    def ran(self) -> tuple[Outcome, ...]:
        """Outcomes of the methods that ran."""
        return tuple(outcome for outcome in self.outcomes if not outcome.skipped)

    def ranks(self) -> dict[str, dict[str, int]]:
        """Return the rank of each feature in the methods that select it.

        Features selected by most methods come first; among equals, those of the least mean rank.
        """
        found: dict[str, dict[str, int]] = {}
        for outcome in self.ran:
            for rank, name in enumerate(outcome.features, start=1):
                found.setdefault(name, {})[outcome.method] = rank
        order = sorted(found, key=lambda name: (-len(found[name]), sum(found[name].values())))
        return {name: found[name] for name in order}

    def votes(self) -> dict[str, int]:
        """Return by how many methods each feature is selected, in the order of `ranks`."""
        return {name: len(by_method) for name, by_method in self.ranks().items()}

    def agreement(self) -> FloatArray:
        """Return the share of common features (Jaccard) between the methods that ran, (k, k)."""
        sets = [set(outcome.features) for outcome in self.ran]
        return np.array(
            [[len(a & b) / max(1, len(a | b)) for b in sets] for a in sets], dtype=np.float64
        ).reshape(len(sets), len(sets))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record for each feature that each method selected."""
        return [
            dict(zip(RECORD_FIELDS, (o.method, rank, name, index, score), strict=True))
            for o in self.ran
            for rank, (name, index, score) in enumerate(
                zip(o.features, o.indices, o.scores, strict=True), start=1
            )
        ]


def compare(
    X: Any,
    y: Any = None,
    n_features_to_select: int | None = None,
    *,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    covariates: Sequence[str | int] | None = None,
    cv: Any = None,
    estimator: Any = None,
    random_state: Any = None,
    report: Report | None = None,
) -> Comparison:
    """Select features by several methods.

    A method is left out, with the reason, if it cannot serve the table or the target, or does not
    have one of the options. If no method is left, an error gives the reason.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `HSICLasso.fit`, also a file.
    y : array-like or str, default=None
        The target, in any form that `HSICLasso` takes.
    n_features_to_select : int, default=None
        Number of features that each method selects; by default ten, or all if there are fewer.
    methods : sequence of str, or mapping of str to estimators, default=None
        Names in `METHODS`, by default all; or your own estimators by name, whose number of
        features is set.
    options : mapping, default=None
        Parameters of the methods, such as ``{"target": "counts"}``.
    covariates : sequence of str or int, default=None
        Columns whose influence is removed, such as batch or age. Methods without such an option
        get the residuals of a regression on the same functions of the covariates: of all columns,
        which must be numbers, and of a real target; classes stay as they are.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn. Each method selects on the training part, and a model that is
        fitted to its features there is scored on the other part.
    estimator : estimator, default=None
        That model; by default a support vector machine, for classes or one column of numbers, with
        a column of zeros and ones for each label of a feature. The score is its own.
    random_state : int, RandomState or Generator, default=None
        Seed of the methods that draw random numbers.
    report : callable, default=None
        Called with ``"methods"`` or the title of a method and its stage, the number of units done
        and the number in all, 0 if unknown.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import compare
    >>> X, y, causal = make_data1(300, 20, random_state=0)
    >>> found = compare(X, y, 4, methods=["hsic_lasso", "mi_ranking"])
    >>> [outcome.title for outcome in found.outcomes]
    ['HSIC Lasso', 'MI ranking']
    >>> found.agreement().shape
    (2, 2)
    """
    check_count("n_features_to_select", n_features_to_select, least=1)
    if cv is None and estimator is not None:
        raise InvalidInputError(
            "estimator has no meaning without cv: say how many folds, as in cv=5."
        )
    data = as_dataset(X, y)
    if data.weights is not None:
        raise InvalidInputError("X has sample weights, which most methods cannot use: drop them.")
    source, options = data.source, dict(options or {})
    chosen = _estimators(methods, options)
    n_covariates = len(covariates or ())
    wanted = n_wanted(n_features_to_select, source.n_features - n_covariates)
    given = {"n_features_to_select": wanted, **options}
    tell = report or (lambda stage, done, total: None)
    folds = None
    if cv is not None:
        target = options.get("target", "auto")
        folds = Folds.of(source, data.y, target, cv=cv, estimator=estimator)
    whole = is_container(X) and not data.target  # a column that is the target is no feature
    table = _Table(source, X if whole else source, data.y, given, covariates, folds)
    outcomes = []
    for step, (name, method) in enumerate(chosen.items()):
        tell("methods", step, len(chosen))
        if random_state is not None and "random_state" in _parameters(method):
            method.set_params(random_state=random_state)
        outcomes.append(_run(name, method, table, tell))
    tell("methods", len(chosen), len(chosen))
    found = Comparison(tuple(outcomes), source.n_samples, source.n_features, wanted)
    if not found.ran:
        first, n = outcomes[0], len(outcomes)
        all_of = "" if n == 1 else f"none of the {n} methods can run; the first, "
        raise InvalidInputError(f"{all_of}{first.title}: {first.skipped}")
    return found


@dataclass(frozen=True)
class _Table:
    """What the methods are given."""

    source: Source
    #: The table as the user gave it.
    X: Any
    y: Any
    #: Options of the methods.
    options: dict[str, Any]
    covariates: Sequence[str | int] | None
    folds: Folds | None


def _estimators(methods: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Make the estimators; raise if none of them has an option."""
    if isinstance(methods, Mapping):
        made = {name: clone(estimator) for name, estimator in methods.items()}
    else:
        given = METHODS if methods is None else methods
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            if name not in METHODS:
                raise InvalidInputError(
                    f"methods has {name!r}, which is unknown: {close_matches(name, METHODS)} "
                    f"There are {', '.join(METHODS)}."
                )
        made = {name: METHODS[name]() for name in names}
    if not made:
        raise InvalidInputError("methods is empty: name one or more.")
    if "n_features_to_select" in options:
        raise InvalidInputError(
            "options has n_features_to_select, which compare has itself: pass it there."
        )
    for option in options:
        if not any(option in _parameters(estimator) for estimator in made.values()):
            raise InvalidInputError(f"options has {option!r}, which no method has: leave it out.")
    return made


def _parameters(estimator: Any) -> set[str]:
    return set(estimator.get_params(deep=False))


def _run(name: str, estimator: Any, table: _Table, report: Report) -> Outcome:
    """Fit one method, or say why it cannot run."""
    title = traits_of(name).title if METHODS.get(name) is type(estimator) else name
    known, options = _parameters(estimator), table.options
    for option in options:
        if option not in known:
            reason = f"{option}={options[option]!r} is given, but {title} has no such option"
            return Outcome(name, title, skipped=f"{reason}: leave it out to let {title} run.")
    adjusted = ""
    if table.covariates:
        adjusted = "itself" if "covariates" in known else "residuals"
    report(title, 0, 0)
    begin = time.perf_counter()
    try:
        estimator.set_params(**options)
        with _named_warnings(title):
            fitted, selected = _select(estimator, table.X, table.y, table, _under(title, report))
            seconds = time.perf_counter() - begin
            score = spread = stability = None
            if table.folds is not None:
                report(f"{title}: folds", 0, 0)
                score, spread, stability = table.folds.judged(
                    lambda X, y: _select(clone(estimator), X, y, table, _nothing)[1]
                )
    except InvalidInputError as error:
        return Outcome(name, title, skipped=str(error))
    scores = fitted.scores_ if isinstance(fitted, Baseline) else fitted.coef_
    best = tuple(scores[fitted.selected_].tolist())
    indices = tuple(selected.tolist())
    return Outcome(
        name, title, tuple(table.source.name(k) for k in indices), indices, best, seconds,
        _redundancy(table.source, indices), "", score, spread, stability, adjusted,
    )  # fmt: skip


def _select(estimator: Any, X: Any, y: Any, table: _Table, report: Report) -> tuple[Any, IntArray]:
    """Fit a method; return it, and the selected columns of the whole table."""
    columns = None
    if table.covariates:
        if "covariates" in _parameters(estimator):
            estimator.set_params(covariates=table.covariates)
        else:
            target = table.options.get("target", "auto")
            X, y, columns = residuals(as_dataset(X).source, y, table.covariates, target)
    if isinstance(estimator, Baseline):
        estimator.fit_reporting(X, y, report)
    else:
        estimator.fit(X, y)
    selected = np.asarray(estimator.selected_)
    return estimator, selected if columns is None else columns[selected]


def _under(title: str, report: Report) -> Report:
    """Return a report whose stages have the title of a method."""
    return lambda stage, done, total: report(f"{title}: {stage}", done, total)


def _nothing(stage: str, done: int, total: int) -> None:
    """Report nothing."""


@contextmanager
def _named_warnings(title: str) -> Iterator[None]:
    """Put the name of the method in front of warnings, unless they are about the table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        text, kind = str(warning.message), warning.category
        plain = title in text or issubclass(kind, _OF_TABLE)
        warnings.warn(text if plain else f"{title}: {text}", kind, stacklevel=5)


def _redundancy(source: Source, selected: Sequence[int]) -> float | None:
    """Mean absolute correlation between pairs of columns of numbers; None if there is no pair."""
    numbers = [k for k in selected if source.kind(k) in ("number", "bool")]
    if len(numbers) < 2:
        return None
    block = source.block(np.array(numbers))
    block /= np.maximum(np.abs(block).max(axis=0), _TINY)  # huge numbers overflow when squared
    block -= block.mean(axis=0)
    block /= np.maximum(np.linalg.norm(block, axis=0), _TINY)
    correlation = np.abs(block.T @ block)
    return float(correlation[np.triu_indices(len(numbers), 1)].mean())
