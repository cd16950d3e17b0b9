"""Selection with a bound on the share of false discoveries, which also says how many features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_count,
    check_random_state,
    check_whole,
    is_number,
)
from hsiclasso._types import FloatArray
from hsiclasso.data import as_dataset
from hsiclasso.dependence import Progress
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.candidates import Candidates
from hsiclasso.inference.multiple import adjust
from hsiclasso.selectors.estimators import ColumnSelector, HSICLasso, LassoSelector
from hsiclasso.selectors.pipeline import Selection, select
from hsiclasso.selectors.result import SelectionResult
from hsiclasso.selectors.summaries import CandidateTest, ErrorControl

__all__ = ["ControlledSelection"]

Method = Literal["bh", "by"]

#: Candidates of a first path. There are twice as many next if more than half of them are found.
_CANDIDATES = 10
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
        stop at, `max_redundancy` and `fill` are not used.
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
        selector = self._check()
        data = as_dataset(X, y)
        _check_weights(data.weights)
        number = min(self.n_candidates or _CANDIDATES, data.source.n_features)
        while True:
            selector.set_params(n_features_to_select=number)
            selection = select(
                selector, data.source, data.y, sample_weight=data.weights, covariates=covariates,
                progress=progress,
            )  # fmt: skip
            control = self._control(selection, progress)
            wanted = min(2 * number, data.source.n_features, control.n_samples // _SAMPLES_EACH)
            n_found = sum(test.found for test in control.candidates)
            more = self.n_candidates is None and 2 * n_found > number and wanted > number
            if not more or len(control.candidates) < number:
                break
            number = wanted
        selector._set_names(X, data.source)
        selector._keep(selection)
        self.selector_ = selector
        self._set_names(X, data.source)
        self._keep(selection, control)
        return self

    def _check(self) -> LassoSelector:
        """Check the parameters; return the selector as it is used."""
        check_level(self.level)
        check_choice("method", self.method, get_args(Method))
        check_count("n_candidates", self.n_candidates, least=1)
        check_whole("n_draws", self.n_draws, least=99)
        check_random_state(self.random_state)
        made = HSICLasso() if self.selector is None else self.selector
        if not isinstance(made, LassoSelector):
            raise InvalidInputError(
                f"selector={made!r} has no path of candidates: pass an HSICLasso, NOCCOLasso or "
                "EmbeddingLasso; StabilitySelection serves any selector."
            )
        used = {"alpha": None, "max_redundancy": self.max_redundancy}
        if "fill" in made.get_params(deep=False):
            used["fill"] = False
        selector: LassoSelector = clone(made).set_params(**used)
        return selector

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

    def _keep(self, selection: Selection, control: ErrorControl) -> None:
        """Set the attributes."""
        tests = control.candidates
        found = np.array([test.found for test in tests], dtype=bool)
        self.selected_ = self.selector_._columns(selection.selected[found])
        p_values, q_values = np.ones((2, selection.features.n_features))
        p_values[selection.selected] = [test.p_value for test in tests]
        q_values[selection.selected] = [test.q_value for test in tests]
        self.p_values_: FloatArray = selection.features.on_columns(p_values, 1.0)
        self.q_values_: FloatArray = selection.features.on_columns(q_values, 1.0)
        wanted = np.zeros(selection.features.n_features)
        wanted[selection.selected[found]] = selection.coefficients[selection.selected[found]]
        self.coef_: FloatArray = selection.features.on_columns(wanted, 0.0)
        self.relevance_: FloatArray = self.selector_.relevance_
        self.result_ = _found_only(selection.result, control)

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


def _check_weights(weights: Any) -> None:
    if weights is not None and not np.isin(np.asarray(weights), (0, 1)).all():
        raise InvalidInputError(
            "The file has weights of samples other than 0 and 1, but the tests exchange samples: "
            "leave the weights out, or select without error control."
        )


def _found_only(result: SelectionResult, control: ErrorControl) -> SelectionResult:
    """Return the part of a result that is found, with p- and q-values."""
    tests = control.candidates
    which = [i for i, test in enumerate(tests) if test.found]
    features = tuple(
        replace(result.features[i], p_value=tests[i].p_value, q_value=tests[i].q_value)
        for i in which
    )
    name = "Benjamini-Hochberg" if control.method == "bh" else "Benjamini-Yekutieli"
    count = f"{len(which)} of {len(tests)} candidates" if which else "Nothing"
    message = (
        f"{count} found at a false discovery rate of {control.level:g} among {control.n_tests} "
        f"features ({name})."
    )
    return replace(
        result,
        features=features,
        clusters=tuple(result.clusters[i] for i in which if result.clusters),
        functions=tuple(result.functions[i] for i in which if result.functions),
        solution=replace(result.solution, message=message, n_requested=None),
        error_control=control,
    )
