"""The estimator that explains the target's embedding by a sum of functions, and predicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hsiclasso._types import FloatArray
from hsiclasso.data import check_finite, is_container
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Embedding
from hsiclasso.selectors.embedding import FittedFunctions
from hsiclasso.selectors.estimators import Columns, LassoSelector, values_of
from hsiclasso.selectors.missing import as_missing
from hsiclasso.selectors.pipeline import Selection
from hsiclasso.selectors.resources import Resources

__all__ = ["EmbeddingLasso"]

#: Kinds of targets whose values can be predicted.
_PREDICTED = ("real", "classes", "labels", "ordinal", "counts")
_BY_CLASS = ("classes", "labels")


def _predicts(*kinds: str) -> Any:
    """Whether targets of some kinds are what was fitted, or may be, before the fit."""

    def check(self: EmbeddingLasso) -> bool:
        fitted = getattr(self, "_fitted", None)
        given = getattr(self.target, "name", self.target)
        kind = given if fitted is None else fitted.target.name
        if kind in kinds or kind == "auto":
            return True
        raise AttributeError(
            f"This is only for a target of the kind {' or '.join(map(repr, kinds))}, and it is "
            f"{kind!r}."
        )

    return check


class EmbeddingLasso(LassoSelector):
    r"""Feature selection by a sum of functions that explains the target's embedding.

    Solves, to its certified global optimum,

    .. math:: \min_W \tfrac12 \Big\|F - \sum_k Q_k W_k\Big\|_F^2 + \lambda \sum_k \|W_k\|_F

    where F is a factor of the target's centred Gram matrix, and :math:`Q_k` that of feature k with
    singular values shrunk to :math:`s/\sqrt{s^2 + \epsilon n}`. In words: the conditional mean of
    the target's kernel embedding is explained by a sum of functions, one for each of few features.
    It needs fewer samples than `HSICLasso`, which matches Gram matrices, and it predicts. What
    leaves no trace in functions of single features is found only with `interactions`: the sum then
    also has functions of two features, for what both say beyond each alone.

    The path goes a little further than the number asked for. Functions of all features on it are
    then fitted together without the penalty, which shrinks the important ones most, and the least
    important are dropped one by one.

    Parameters
    ----------
    n_features_to_select : int or "auto", default=None
        Number of features. None is ten, or all if there are fewer, unless `alpha` is given;
        ``"auto"`` finds it by tests, as in `HSICLasso`.
    alpha : float or AlphaRatio, default=None
        Penalty :math:`\lambda` at which to stop; ``AlphaRatio(0.1)`` is a share of the largest.
        The factor of the target's kernel has norm 1.
    max_redundancy : float or "auto", default="auto"
        Similarity above which features are left out, as in `HSICLasso`. ``"auto"`` is 0.6, and
        1.0 for groups.
    fill : bool, default=True
        Whether relevant features make up the number where the path ends before it. The path of
        classes and labels then ends where functions of more features would follow the noise: at
        .7 of the correlation that features would have with an unrelated target. Otherwise it ends
        at a hundredth of the largest penalty.
    epsilon : float or "auto", default="auto"
        How smooth functions are, at least 1e-7: larger is smoother. ``"auto"`` is 0.1 for classes
        and labels, and 0.02 for other targets.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    target : str or Target, default="auto"
        What y is, as in `HSICLasso`. Unless `Real` says otherwise, a real target is transformed to
        normal scores. Its matrix must be positive semi-definite.
    penalty : {"lasso"}, Lasso or GroupLasso, default="lasso"
        ``Lasso(weights)`` or ``GroupLasso(groups)``; a group has one norm.
    keep, exclude, joint, covariates, missing
        As in `HSICLasso`; covariates are projected out.
    gram_error : float, default=1e-6
        Guaranteed relative error of a feature's matrix.
    interactions : {"all", "selected"}, list of tuples or Interactions, default=None
        Pairs of features whose functions compete with those of single ones, as in `HSICLasso`. Of
        all pairs, the 200 that are most relevant for the target are offered.
    n_interactions : int, default=None
        Most interactions that are selected, of the `n_features_to_select` in all.
    n_neighbors, n_jobs, resources
        As in `HSICLasso`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Norm of the part of the embedding that each selected feature explains; 0 for the others.
        Those of interactions are in `result_`.
    selected_ : ndarray of shape (n_selected,)
        Columns by decreasing importance: in the order in which they would be dropped, last first.
        Those of interactions are included.
    functions_ : tuple of FeatureFunction or PairFunction
        The curve of each selected feature, and the surface of each pair, in the order of
        `result_.features`.
    classes_ : ndarray or list of ndarray
        Classes, of each column of a target with several; only for classes and labels.
    relevance_ : ndarray of shape (n_features,)
        Squared correlation of every feature with the target,
        :math:`\langle K_k (K_k + \epsilon n)^{-1}, L\rangle`.
    epsilon_ : float
        The smoothness that was used.
    n_observed_, path_, result_, n_features_in_, feature_names_in_
        As in `HSICLasso`.
    selected_kernel_ : SelectedKernel
        The sum of the kernels of the selected features.
    p_values_, q_values_ : ndarray of shape (n_features,)
        Only with ``n_features_to_select="auto"``, as in `ControlledSelection`.

    See Also
    --------
    HSICLasso : Matches Gram matrices; serves targets of any sign.

    Examples
    --------
    >>> from hsiclasso import EmbeddingLasso, make_data1
    >>> X, y, causal = make_data1(200, 300, random_state=0)
    >>> selector = EmbeddingLasso(4).fit(X[:100], y[:100])
    >>> set(selector.selected_) == set(causal)
    True
    >>> round(selector.score(X[100:], y[100:]), 1)
    0.8
    """

    #: The solver has no choice.
    solver: ClassVar[str] = "auto"

    def __init__(
        self,
        n_features_to_select: int | Literal["auto"] | None = None,
        *,
        alpha: Any = None,
        max_redundancy: Any = "auto",
        fill: bool = True,
        epsilon: float | Literal["auto"] = "auto",
        kernel: Any = "auto",
        target: Any = "auto",
        penalty: Any = "lasso",
        keep: Columns | None = None,
        exclude: Columns | None = None,
        joint: Mapping[str, Columns] | None = None,
        covariates: Any = None,
        missing: Any = "error",
        gram_error: float = 1e-6,
        interactions: Any = None,
        n_interactions: int | None = None,
        n_neighbors: int = 0,
        n_jobs: int | None = -1,
        resources: Resources | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.max_redundancy = max_redundancy
        self.fill = fill
        self.epsilon = epsilon
        self.kernel = kernel
        self.target = target
        self.penalty = penalty
        self.keep = keep
        self.exclude = exclude
        self.joint = joint
        self.covariates = covariates
        self.missing = missing
        self.gram_error = gram_error
        self.interactions = interactions
        self.n_interactions = n_interactions
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.resources = resources

    @property
    def measure(self) -> Embedding:
        """The measure: NOCCO's matrices of features, HSIC's matrix of the target."""
        return Embedding(self.epsilon)

    def _keep(self, selection: Selection) -> None:
        super()._keep(selection)
        assert selection.model is not None
        self._fitted: FittedFunctions = selection.model
        self.epsilon_ = selection.problem.measure.regularisation
        self.functions_ = selection.result.functions
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if self._fitted.target.name in _BY_CLASS:
            labels = self._fitted.labels
            self.classes_ = labels[0] if len(labels) == 1 else list(labels)

    @available_if(_predicts(*_PREDICTED))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict the target from the functions of the selected features.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `fit`, with all columns.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The conditional mean of numbers, the nearest level of an ordinal target, or the most
            probable class.
        """
        scores, fitted = self._scores(X), self._fitted
        kind = fitted.target.name
        if kind in _BY_CLASS:
            parts = _by_column(scores, fitted.labels)
            columns = [
                own[part.argmax(axis=1)] for part, own in zip(parts, fitted.labels, strict=True)
            ]
        elif kind == "ordinal":
            columns = [
                own[np.abs(score[:, None] - own).argmin(axis=1)]
                for score, own in zip(scores.T, fitted.labels, strict=True)
            ]
        else:
            columns = list(np.maximum(scores.T, 0.0) if kind == "counts" else scores.T)
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    @available_if(_predicts(*_BY_CLASS))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Estimate the probability of each class.

        The functions are fitted to indicators of the classes, whose conditional means are these
        probabilities. Estimates below 0 are set to 0, and the others are scaled to the sum 1.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several columns
        """
        parts = _by_column(np.maximum(self._scores(X), 0.0), self._fitted.labels)
        made = [part / np.maximum(part.sum(axis=1, keepdims=True), 1e-12) for part in parts]
        return made[0] if len(made) == 1 else made

    @available_if(_predicts(*_BY_CLASS))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """Return the estimated conditional mean of the indicator of each class.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            With two classes, scikit-learn's form (n_samples,): positive for the second.
        """
        scores = self._scores(X)
        two = len(self._fitted.labels) == 1 and scores.shape[1] == 2
        return np.asarray(scores[:, 1] - scores[:, 0]) if two else scores

    @available_if(_predicts(*_PREDICTED))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for classes, labels and levels, and R^2 for numbers.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `fit`, with all columns.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            The true values, or the name of their column in X.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        by_label = self._fitted.target.name in (*_BY_CLASS, "ordinal")
        measure = accuracy_score if by_label else r2_score
        truth, found = np.asarray(values_of(X, y)), self.predict(X)
        if by_label and truth.dtype == object:  # labels of any kind
            truth = truth.astype(found.dtype)
        return float(measure(truth, found, sample_weight=sample_weight))

    def _scores(self, X: Any) -> FloatArray:
        """Return the outputs (m, q) of the additive model."""
        check_is_fitted(self)
        if self._fitted.adjusted:
            raise InvalidInputError(
                "predict: covariates were removed from the target, and what is left of it cannot "
                "be compared with y: fit without covariates, or give them as features to keep."
            )
        ignore, source = as_missing(self.missing) is not None, self._source(X)
        if is_container(X):
            check_finite(source, ignore=ignore)
        return self._fitted.model(source, ignore_missing=ignore)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()
        tags.regressor_tags = RegressorTags()
        return tags


def _by_column(scores: FloatArray, labels: tuple[Any, ...]) -> list[FloatArray]:
    """Cut scores (m, q) into those of each column's labels."""
    return np.split(scores, np.cumsum([len(own) for own in labels])[:-1], axis=1)
