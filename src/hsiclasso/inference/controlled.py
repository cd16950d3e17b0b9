"""Selection with a bound on the share of false discoveries, which also says how many features."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_count,
    check_jobs,
    check_random_state,
    check_whole,
    is_number,
)
from hsiclasso._types import FloatArray
from hsiclasso.data import Source, as_dataset
from hsiclasso.dependence import Progress
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    FewObservedWarning,
    InvalidInputError,
)
from hsiclasso.inference.candidates import Candidates
from hsiclasso.inference.multiple import adjust
from hsiclasso.selectors.auto import candidates_of, check_testable
from hsiclasso.selectors.estimators import ColumnSelector, HSICLasso, LassoSelector
from hsiclasso.selectors.pipeline import Selection, select
from hsiclasso.selectors.prepare import check_options
from hsiclasso.selectors.redundancy import check_redundancy
from hsiclasso.selectors.summaries import CandidateTest, ErrorControl

__all__ = ["ControlledSelection", "select_auto"]

Method = Literal["bh", "by"]

#: Fewest samples for each candidate: functions of many candidates can explain anything.
_SAMPLES_EACH = 5


class ControlledSelection(MetaEstimatorMixin, ColumnSelector):  # type: ignore[misc]
    r"""Select features with a bound on the expected share of false ones among them.

    1. A path of `selector` gives candidates, no two of which are redundant: each stands for a
       cluster of similar features.
    2. Each candidate gets two p-values: of its dependence with the target, by the permutation null
       (`permutation_p_value`), and of its dependence given the other candidates, by a distilled
       randomisation test (`hsiclasso.inference.conditional`). The larger one counts, so that
       neither chance nor another candidate explains what is found.
    3. The Benjamini-Hochberg procedure over *all* features, with p-value 1 for those that are no
       candidates, says which candidates are found.

    There is no number of features to choose. If nothing is found, nothing is selected.

    Parameters
    ----------
    selector : HSICLasso, NOCCOLasso or EmbeddingLasso, default=None
        Says what is compared and how; None is ``HSICLasso()``. Its numbers of features, penalty to
        stop at, `max_redundancy` and `fill` are not used. With ``n_features_to_select="auto"`` it
        does by itself what this class does with its defaults.
    level : float, default=0.1
        Bound on the false discovery rate, between 0 and 1.
    method : {"bh", "by"}, default="bh"
        ``"by"``, Benjamini-Yekutieli, allows for any dependence of the p-values and finds less.
    max_redundancy : float, default=0.2
        Similarity above which two features belong to one cluster; lower than for a plain
        selection, since a test given a noisy copy cannot prove the original superfluous.
    n_candidates : int, default=None
        Candidates on the path. None begins with 10 and doubles them while more than half of them
        are found.
    n_draws : int, default=1999
        Redrawn features in a conditional test.
    random_state : int, Generator, RandomState or None, default=0
        Source of the draws. The default gives the same answer in every run.
    n_jobs : int, default=-1
        Threads of the tests; the answer does not depend on them.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Columns that are found, by decreasing weight.
    p_values_, q_values_ : ndarray of shape (n_features,)
        Larger p-value of each candidate, 1 for all others, and adjusted p-values.
    coef_, relevance_ : ndarray of shape (n_features,)
        Weights of the columns that are found, 0 for the others; relevance of all.
    result_ : SelectionResult
        The features that are found, with p- and q-values and clusters; ``result_.error_control``
        has all candidates.
    selector_ : HSICLasso, NOCCOLasso or EmbeddingLasso
        The selector, fitted with the candidates.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso import ControlledSelection, make_copies
    >>> X, y, origin = make_copies(300, 100, n_copies=2, random_state=0)
    >>> selector = ControlledSelection(level=0.1).fit(X, y)
    >>> sorted(origin[selector.selected_].tolist())  # each of four causes once
    [0, 1, 2, 3]
    >>> permuted = np.random.default_rng(0).permutation(y)
    >>> ControlledSelection(level=0.1).fit(X, permuted).selected_.tolist()
    []
    """

    def __init__(
        self,
        selector: Any = None,
        level: float = 0.1,
        *,
        method: Literal["bh", "by"] = "bh",
        max_redundancy: float = 0.2,
        n_candidates: int | None = None,
        n_draws: int = 1999,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.selector = selector
        self.level = level
        self.method = method
        self.max_redundancy = max_redundancy
        self.n_candidates = n_candidates
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        covariates: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Select the features on which the target depends beyond chance.

        Parameters
        ----------
        X, y, covariates, progress
            As in `HSICLasso.fit`.

        Returns
        -------
        self
        """
        check_jobs(self.n_jobs)
        data = as_dataset(X, y)
        selector, candidates, found = self._select(
            data.source, data.y, sample_weight=data.weights, covariates=covariates,
            progress=progress,
        )  # fmt: skip
        selector._set_names(X, data.source)
        selector._keep(candidates)
        self.selector_ = selector
        self._set_names(X, data.source)
        self._keep(found)
        return self

    def _select(
        self,
        source: Source,
        y: Any,
        *,
        sample_weight: Any = None,
        covariates: Any = None,
        progress: Progress | None = None,
    ) -> tuple[LassoSelector, Selection, Selection]:
        """Return the selector of the candidates, the candidates, and those that are found.

        Parameters
        ----------
        source, y, sample_weight, covariates, progress
            As in `hsiclasso.selectors.pipeline.select`; weights are 0 or 1.
        """
        made = self._check()
        _check_weights(sample_weight)
        number = self.n_candidates
        if number is not None:
            number = min(number, source.n_features)
        told: list[type[Warning]] = [FewerFeaturesWarning]  # nobody asked for this number
        while True:
            selector = candidates_of(made, number, self.max_redundancy)
            with warnings.catch_warnings():
                for kind in told:
                    warnings.simplefilter("ignore", kind)
                candidates = select(
                    selector, source, y, sample_weight=sample_weight, covariates=covariates,
                    progress=progress,
                )  # fmt: skip
            control = self._control(candidates, progress)
            number = self._more(candidates, control)
            if number is None:
                return selector, candidates, _found_only(candidates, control)
            told = [FewerFeaturesWarning, ConstantFeatureWarning, FewObservedWarning]

    def _more(self, candidates: Selection, control: ErrorControl) -> int | None:
        """Return how many candidates are tried next; None if these are enough."""
        asked, tests = candidates.inputs.goal.n_features or 0, control.candidates
        available = int(np.isfinite(candidates.inputs.penalty.penalty.weights).sum())
        wanted = min(2 * asked, available, control.n_samples // _SAMPLES_EACH)
        enough = 2 * sum(test.found for test in tests) <= asked or len(tests) < asked
        return None if self.n_candidates is not None or enough or wanted <= asked else wanted

    def _check(self) -> LassoSelector:
        """Check the parameters; return the selector that they are about."""
        check_level(self.level)
        check_choice("method", self.method, get_args(Method))
        check_count("n_candidates", self.n_candidates, least=1)
        check_whole("n_draws", self.n_draws, least=99)
        check_random_state(self.random_state)
        check_redundancy(self.max_redundancy)
        made = HSICLasso() if self.selector is None else self.selector
        if not isinstance(made, LassoSelector):
            raise InvalidInputError(
                f"selector={made!r} has no path of candidates: pass an HSICLasso, NOCCOLasso or "
                "EmbeddingLasso; StabilitySelection serves any selector."
            )
        check_testable(made, type(self).__name__)
        return made

    def _control(self, selection: Selection, progress: Progress | None) -> ErrorControl:
        """Test the candidates."""
        candidates = Candidates.of(selection)
        alone, given = candidates.p_values(
            self.n_draws, as_generator(self.random_state), self.n_jobs, progress
        )
        allowed = np.isfinite(selection.inputs.penalty.penalty.weights)
        n_tests = int(np.count_nonzero(allowed & selection.problem.varies))
        q_values = adjust(np.maximum(alone, given), self.method, n_tests=n_tests)
        features = selection.features
        tests = tuple(
            CandidateTest(
                name=features.name(k),
                index=int(features.first[k]),
                weight=float(selection.coefficients[k]),
                marginal_p=float(alone[i]),
                conditional_p=float(given[i]),
                q_value=float(q_values[i]),
                found=bool(q_values[i] <= self.level),
            )
            for i, k in enumerate(selection.selected.tolist())
        )
        return ErrorControl(self.level, self.method, n_tests, candidates.samples.n, tests)

    def _keep(self, found: Selection) -> None:
        """Set the attributes."""
        features = found.features
        assert found.tested is not None
        p_values, q_values = (features.on_columns(values, 1.0) for values in found.tested)
        self.selected_ = self.selector_._columns(found.selected)
        self.p_values_: FloatArray = p_values
        self.q_values_: FloatArray = q_values
        self.coef_: FloatArray = features.on_columns(found.coefficients, 0.0)
        self.relevance_: FloatArray = self.selector_.relevance_
        self.result_ = found.result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(HSICLasso() if self.selector is None else self.selector)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


def check_level(level: Any) -> None:
    """Raise unless a value is a level of an error."""
    if not is_number(level) or not 0 < level < 1:
        raise InvalidInputError(
            f"level={level!r}, but the level of an error lies between 0 and 1, such as 0.1."
        )


def select_auto(
    options: LassoSelector,
    source: Source,
    y: Any,
    *,
    sample_weight: Any = None,
    covariates: Any = None,
    progress: Progress | None = None,
) -> Selection:
    """Select as ``n_features_to_select="auto"`` asks for: as `ControlledSelection` does by default.

    Parameters
    ----------
    options : HSICLasso, NOCCOLasso or EmbeddingLasso
        Its `max_redundancy` counts if it is a number.
    source, y, sample_weight, covariates, progress
        As in `hsiclasso.selectors.pipeline.select`; weights are 0 or 1.

    Returns
    -------
    Selection
        The features that are found; the path is that of the candidates.
    """
    check_options(options)
    tests = ControlledSelection(
        options, max_redundancy=options.max_redundancy, n_jobs=options.n_jobs
    )
    return tests._select(
        source, y, sample_weight=sample_weight, covariates=covariates, progress=progress
    )[2]


def _check_weights(weights: Any) -> None:
    if weights is not None and not np.isin(np.asarray(weights), (0, 1)).all():
        raise InvalidInputError(
            "sample_weight has values other than 0 and 1, but the tests exchange samples: leave "
            "the weights out, or select without error control."
        )


def _found_only(candidates: Selection, control: ErrorControl) -> Selection:
    """Return the selection of the candidates that are found, with p- and q-values."""
    tests = control.candidates
    places = np.flatnonzero([test.found for test in tests])
    found = candidates.only(places)
    values = np.ones((2, candidates.features.n_features))
    values[:, candidates.selected] = np.array([[t.p_value, t.q_value] for t in tests]).T
    features = tuple(
        replace(feature, p_value=tests[i].p_value, q_value=tests[i].q_value)
        for i, feature in zip(places.tolist(), found.result.features, strict=True)
    )
    name = "Benjamini-Hochberg" if control.method == "bh" else "Benjamini-Yekutieli"
    count = f"{places.size} of {len(tests)} candidates" if places.size else "Nothing"
    message = (
        f"{count} found at a false discovery rate of {control.level:g} among {control.n_tests:,} "
        f"features ({name})."
    )
    solution = replace(found.result.solution, message=message, n_requested=None)
    result = replace(found.result, features=features, solution=solution, error_control=control)
    return replace(found, result=result, tested=values)
