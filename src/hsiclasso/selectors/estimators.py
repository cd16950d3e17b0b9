"""The estimators users call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_count
from hsiclasso._types import BoolArray, IntArray
from hsiclasso.data import as_source
from hsiclasso.dependence import Measure, make_measure
from hsiclasso.embedding import Method
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.covariates import CovariateOptions
from hsiclasso.selectors.features import FeatureOptions
from hsiclasso.selectors.penalties import PenaltyOptions
from hsiclasso.selectors.pipeline import Settings, select
from hsiclasso.selectors.search import Criterion, StopOptions
from hsiclasso.selectors.targets import MultiOutput, TargetOptions, Task

__all__ = ["HSICLasso", "NOCCOLasso"]

Columns = Sequence[str | int]
SolverName = Literal["auto", "homotopy", "cd", "dal"]


class _KernelLasso(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What HSIC Lasso and NOCCO Lasso share: everything but the measure."""

    def __init__(
        self,
        *,
        n_features_to_select: int | None,
        alpha: float | None,
        alpha_ratio: float | None,
        criterion: Criterion | None,
        keep: Columns | None,
        exclude: Columns | None,
        penalty_weights: Any,
        groups: Any,
        group_weights: Mapping[Any, float] | None,
        n_groups_to_select: int | None,
        l1_ratio: float,
        ridge: float,
        positive: bool,
        solver: SolverName,
        task: Task,
        x_kernel: Any,
        y_kernel: Any,
        x_width: Any,
        y_width: Any,
        y_transform: Literal["rank"] | None,
        multioutput: MultiOutput,
        joint: Mapping[str, Columns] | None,
        covariates: Columns | None,
        covariate_method: Literal["project", "subtract"],
        missing: Literal["error", "ignore"],
        min_observed: float,
        missing_target: Literal["error", "drop"],
        tol: float,
        embedding: Method,
        n_neighbors: int,
        n_jobs: int | None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.alpha_ratio = alpha_ratio
        self.criterion = criterion
        self.keep = keep
        self.exclude = exclude
        self.penalty_weights = penalty_weights
        self.groups = groups
        self.group_weights = group_weights
        self.n_groups_to_select = n_groups_to_select
        self.l1_ratio = l1_ratio
        self.ridge = ridge
        self.positive = positive
        self.solver = solver
        self.task = task
        self.x_kernel = x_kernel
        self.y_kernel = y_kernel
        self.x_width = x_width
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.joint = joint
        self.covariates = covariates
        self.covariate_method = covariate_method
        self.missing = missing
        self.min_observed = min_observed
        self.missing_target = missing_target
        self.tol = tol
        self.embedding = embedding
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, sparse matrix, pandas or polars DataFrame of shape (n_samples, n_features)
            Numbers, booleans, categories or text. Neither copied as a whole nor written to.
        y : array-like
            Target: one value per sample, a table of outputs or labels, times and events, or a
            matrix between samples; see `task` and `y_kernel`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: 2 counts a sample twice, 0 leaves it out.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Covariates that are no columns of X.

        Returns
        -------
        self
        """
        settings = self._settings()
        source = as_source(X)
        validate_data(self, X, skip_check_array=True)
        selection = select(source, y, settings, sample_weight=sample_weight, covariates=covariates)
        features = selection.features
        self.path_ = selection.path
        self.result_ = selection.result
        self.relevance_ = selection.scan.relevance
        self.n_observed_ = selection.scan.observed
        self.selected_kernel_ = selection.kernel
        self._features_selected = selection.selected
        self._columns_of = {first: columns for first, (_, columns) in features.joint.items()}
        self._kept = selection.kept
        self.selected_ = self._columns(selection.selected)
        self.coef_ = selection.coefficients
        for first, columns in self._columns_of.items():
            self.coef_[columns] = self.coef_[first]
            self.relevance_[columns] = self.relevance_[first]
            self.n_observed_[columns] = self.n_observed_[first]
        return self

    def _columns(self, features: IntArray) -> IntArray:
        """Columns of features, in their order."""
        if not self._columns_of:
            return features
        parts = [self._columns_of.get(int(k), np.array([k])) for k in features]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def selected_of_size(self, size: int) -> IntArray:
        """Return the columns that would be selected if fewer features had been asked for.

        Parameters
        ----------
        size : int
            Number of features, at most that of the fit.

        Returns
        -------
        ndarray of shape (size,)
            Columns by decreasing weight.
        """
        check_is_fitted(self)
        check_count("size", size, least=1)
        most, least = self._features_selected.size, max(1, self._kept.size)
        if not least <= size <= most:
            raise InvalidInputError(
                f"size={size}, but {most} features were selected, of which {self._kept.size} are "
                f"always kept: ask for {least} to {most}, or fit again with more."
            )
        if size == most or size >= self.result_.n_on_path:
            return self._columns(self._features_selected[:size])
        if not self.path_.exact:
            raise InvalidInputError(
                f"solver={self.result_.solver!r} follows no exact path: fit again with "
                f"n_features_to_select={size}."
            )
        return self._columns(self.path_.selected_of_size(size, self._kept))

    def _settings(self) -> Settings:
        """Gather the parameters, which checks them."""
        return Settings(
            stop=StopOptions(
                self.n_features_to_select,
                self.n_groups_to_select,
                self.alpha,
                self.alpha_ratio,
                self.criterion,
            ),
            penalty=PenaltyOptions(
                self.penalty_weights,
                self.keep,
                self.exclude,
                self.groups,
                self.group_weights,
                self.l1_ratio,
                self.ridge,
                self.positive,
            ),
            solver=self.solver,
            measure=self._measure(),
            features=FeatureOptions(
                self.x_kernel,
                self.x_width,
                self.joint,
                self.missing,
                self.min_observed,
                self.tol,
                self.embedding,
            ),
            target=TargetOptions(
                self.task,
                self.y_kernel,
                self.y_width,
                self.y_transform,
                self.multioutput,
                self.missing_target,
            ),
            covariates=CovariateOptions(self.covariates, self.covariate_method),
            n_neighbors=self.n_neighbors,
            n_jobs=self.n_jobs,
        )

    def _measure(self) -> Measure:
        raise NotImplementedError

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        return tags


class HSICLasso(_KernelLasso):
    r"""Feature selection by the Hilbert-Schmidt independence criterion lasso.

    Solves, to its certified global optimum,

    .. math:: \min_{a \ge 0} \tfrac12 \Big\|\bar L - \sum_k a_k \bar K^{(k)}\Big\|_F^2
              + \lambda \|a\|_1

    where :math:`\bar K^{(k)}` is the centred Gram matrix of column k and :math:`\bar L` that of
    the target: a feature gets a positive weight if the target depends on it, linearly or not,
    and no feature already chosen says the same.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features. By default ten, or all if there are fewer, unless `alpha` is given.
    alpha : float, optional
        Penalty :math:`\lambda` at which to stop; 0 is the end of the path, least squares, which
        is centred kernel target alignment. Of several stops, the one that comes first as the
        penalty falls.
    measure : {"hsic", "nhsic"}
        ``"hsic"`` is the paper's; ``"nhsic"`` divides every Gram matrix by its Frobenius norm,
        as pyHSICLasso does.
    alpha_ratio : float, optional
        The same as a share of the largest penalty, at which the first feature enters.
    criterion : {"aic", "bic"}, optional
        Information criterion that chooses the penalty, among those with at most
        `n_features_to_select` features, 50 by default.
    keep, exclude : sequence of str or int, optional
        Columns, by name or index, that are not penalised and always selected; and columns that
        are never selected.
    penalty_weights : array-like of shape (n_features,) or mapping, optional
        Factor of the penalty of each feature: 0 leaves it unpenalised, infinity excludes it. A
        mapping by name or index leaves the others at 1.
    groups : array-like of shape (n_features,), mapping or pandas Series, optional
        Group of each feature. Whole groups are then selected, by the group lasso
        :math:`\sum_g v_g \|a_g\|_2`. A mapping, or a series indexed by names, need not mention
        all columns; the others are groups of their own.
    group_weights : mapping, optional
        Weight :math:`v_g` by label; by default the square root of the group's size.
    n_groups_to_select : int, optional
        Number of groups at which to stop.
    l1_ratio : float
        With groups, the share of the l1 part: above 0, the sparse group lasso, which selects
        features within groups too.
    ridge : float
        Ridge part of the elastic net, :math:`\tfrac12\rho\|a\|^2` with :math:`\rho` the ridge
        times the squared norm of the target's matrix. Redundant features then share weight.
    positive : bool
        With False, weights of either sign are allowed, for the lasso without groups. A negative
        weight has no meaning as a dependence, the sum of kernels is no longer a kernel, and the
        bound that spares most features a second look is lost: the cost grows with the number of
        features times the number selected.
    solver : {"auto", "homotopy", "cd", "dal"}
        ``"auto"`` takes the exact homotopy for the lasso, weighted or with a ridge part, and
        coordinate descent for groups and signed weights; ``"dal"`` is the dual augmented
        Lagrangian method of the paper. All reach the same optimum and certify it.
    task : str
        ``"auto"``: text and booleans are classes, and so are whole numbers with at most 50
        distinct values that occur three times each on average; an ordered category is ordinal;
        several columns of zeros and ones are labels; a structured array is censored; all else
        is real. Or one of ``"classification"``, ``"regression"``, ``"ordinal"``, ``"counts"``,
        ``"multilabel"``, ``"survival"``.
    x_kernel : str, kernel object or mapping
        Kernel of the features. ``"auto"``: Gaussian for numbers, plain delta for booleans,
        categories and text. By name: ``"gaussian"``, ``"laplace"``, ``"delta"``,
        ``"plain_delta"``, ``"linear"``, ``"polynomial"``. An object such as ``Laplace(2.0)``. A
        mapping by column, kind (``"number"``, ``"bool"``, ``"category"``, ``"text"``) or dtype.
    y_kernel : str, kernel object or callable
        Kernel of the target; ``"auto"`` takes delta for classes and labels, Gaussian otherwise.
        The same names and objects as for features; ``"precomputed"`` for a matrix of
        affinities; ``"diffusion"`` or ``"regularised_laplacian"`` for the links of a graph; or a
        function of two targets.
    x_width, y_width : float, "median" or tuple of these
        Widths of kernels given by name, in standard deviations; ``"median"`` takes the median
        pairwise distance of each column. Several widths stand for the mean of their kernels.
    y_transform : {None, "rank"}
        ``"rank"`` replaces a real target by its ranks, which helps with heavy tails.
    multioutput : {"auto", "joint", "average"}
        One kernel on several outputs together, or one each, averaged; ``"auto"`` is together
        for real outputs, averaged for classes and labels.
    joint : mapping of str to columns, optional
        Features made of several columns under one kernel, such as coordinates, by their names.
    covariates : sequence of str or int, optional
        Columns whose influence is removed; values of your own go to `fit`.
    covariate_method : {"project", "subtract"}
        ``"project"`` removes functions of the covariates from features and target;
        ``"subtract"`` takes their matrix from the target's, as pyHSICLasso does.
    missing : {"error", "ignore"}
        With ``"ignore"``, a missing value adds nothing: each feature is judged on the samples
        on which it is observed.
    min_observed : float or int
        Share or number of samples on which a feature must be observed to be judged.
    missing_target : {"error", "drop"}
        Whether samples without a target are dropped.
    tol : float
        Guaranteed relative error of a feature's Gram matrix. 1e-6 gives the same selection as
        dense matrices; 1e-10 is the tight choice.
    embedding : {"auto", "table", "cholesky"}
        How columns are factored: see `hsiclasso.embedding.Embedding`.
    n_neighbors : int
        Redundant neighbours listed for each selected feature.
    n_jobs : int, optional
        Threads of the pass over the data; -1 takes all cores.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, zero for features that are not selected.
    selected_ : ndarray of shape (n_selected,)
        Columns by decreasing weight.
    relevance_ : ndarray of shape (n_features,)
        HSIC of every feature with the target.
    n_observed_ : ndarray of shape (n_features,)
        Number of samples on which each feature is not missing.
    path_ : Path
        Solution path with its breakpoints.
    result_ : SelectionResult
        Names, weights, neighbours, certificate; ``to_frame()``, ``to_json()``.
    selected_kernel_ : SelectedKernel
        The learnt kernel :math:`\sum_k a_k K_k`, for support vector machines and the like.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    See Also
    --------
    NOCCOLasso : The same with a measure that depends less on the kernel width.

    References
    ----------
    Yamada, Jitkrittum, Sigal, Xing and Sugiyama (2014). High-dimensional feature selection by
    feature-wise kernelized lasso. Neural Computation 26(1).

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> selector = HSICLasso(4).fit(X, y)
    >>> set(selector.selected_) == set(causal)
    True
    >>> selector.transform(X).shape
    (300, 4)
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        alpha: float | None = None,
        measure: Literal["hsic", "nhsic"] = "hsic",
        alpha_ratio: float | None = None,
        criterion: Criterion | None = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        penalty_weights: Any = None,
        groups: Any = None,
        group_weights: Mapping[Any, float] | None = None,
        n_groups_to_select: int | None = None,
        l1_ratio: float = 0.0,
        ridge: float = 0.0,
        positive: bool = True,
        solver: SolverName = "auto",
        task: Task = "auto",
        x_kernel: Any = "auto",
        y_kernel: Any = "auto",
        x_width: Any = 1.0,
        y_width: Any = 1.0,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        joint: Mapping[str, Columns] | None = None,
        covariates: Columns | None = None,
        covariate_method: Literal["project", "subtract"] = "project",
        missing: Literal["error", "ignore"] = "error",
        min_observed: float = 0.5,
        missing_target: Literal["error", "drop"] = "error",
        tol: float = 1e-6,
        embedding: Method = "auto",
        n_neighbors: int = 5,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(
            n_features_to_select=n_features_to_select,
            alpha=alpha,
            alpha_ratio=alpha_ratio,
            criterion=criterion,
            keep=keep,
            exclude=exclude,
            penalty_weights=penalty_weights,
            groups=groups,
            group_weights=group_weights,
            n_groups_to_select=n_groups_to_select,
            l1_ratio=l1_ratio,
            ridge=ridge,
            positive=positive,
            solver=solver,
            task=task,
            x_kernel=x_kernel,
            y_kernel=y_kernel,
            x_width=x_width,
            y_width=y_width,
            y_transform=y_transform,
            multioutput=multioutput,
            joint=joint,
            covariates=covariates,
            covariate_method=covariate_method,
            missing=missing,
            min_observed=min_observed,
            missing_target=missing_target,
            tol=tol,
            embedding=embedding,
            n_neighbors=n_neighbors,
            n_jobs=n_jobs,
        )
        self.measure = measure

    def _measure(self) -> Measure:
        if self.measure not in ("hsic", "nhsic"):
            raise InvalidInputError(
                f"measure={self.measure!r} is unknown: choose 'hsic' or 'nhsic', or use "
                "NOCCOLasso for 'nocco'."
            )
        return make_measure(self.measure)


class NOCCOLasso(_KernelLasso):
    r"""Feature selection by the normalised cross-covariance operator lasso.

    The problem of `HSICLasso` with :math:`\bar K(\bar K + \epsilon n I)^{-1}` in place of every
    centred Gram matrix, which makes the measure less sensitive to the kernel width.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features. By default ten, or all if there are fewer, unless `alpha` is given.
    epsilon : float
        Regularisation of the inverse, :math:`\epsilon > 0`.
    alpha, alpha_ratio, criterion
        Other ways to stop, as in `HSICLasso`.
    keep, exclude, penalty_weights
        What is known about features, as in `HSICLasso`.
    groups, group_weights, n_groups_to_select, l1_ratio, ridge, positive, solver
        Penalty and solver, as in `HSICLasso`.
    task, x_kernel, y_kernel, x_width, y_width, y_transform, multioutput, joint
        What features and target are, as in `HSICLasso`.
    covariates, covariate_method, missing, min_observed, missing_target
        Covariates and missing values, as in `HSICLasso`.
    tol : float
        Guaranteed relative error of a feature's matrix.
    embedding : {"auto", "table", "cholesky"}
        How columns are factored.
    n_neighbors : int
        Redundant neighbours listed for each selected feature.
    n_jobs : int, optional
        Threads of the pass over the data; -1 takes all cores.

    Attributes
    ----------
    coef_, selected_, relevance_, n_observed_, path_, result_, selected_kernel_
        As in `HSICLasso`, with the NOCCO measure in place of HSIC.
    n_features_in_, feature_names_in_
        As in `HSICLasso`.

    See Also
    --------
    HSICLasso : The same without the inverse.

    Examples
    --------
    >>> from hsiclasso import NOCCOLasso, make_data1
    >>> X, y, causal = make_data1(500, 50, random_state=0)
    >>> set(NOCCOLasso(4).fit(X, y).selected_) == set(causal)
    True
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        epsilon: float = 1e-3,
        alpha: float | None = None,
        alpha_ratio: float | None = None,
        criterion: Criterion | None = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        penalty_weights: Any = None,
        groups: Any = None,
        group_weights: Mapping[Any, float] | None = None,
        n_groups_to_select: int | None = None,
        l1_ratio: float = 0.0,
        ridge: float = 0.0,
        positive: bool = True,
        solver: SolverName = "auto",
        task: Task = "auto",
        x_kernel: Any = "auto",
        y_kernel: Any = "auto",
        x_width: Any = 1.0,
        y_width: Any = 1.0,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        joint: Mapping[str, Columns] | None = None,
        covariates: Columns | None = None,
        covariate_method: Literal["project", "subtract"] = "project",
        missing: Literal["error", "ignore"] = "error",
        min_observed: float = 0.5,
        missing_target: Literal["error", "drop"] = "error",
        tol: float = 1e-6,
        embedding: Method = "auto",
        n_neighbors: int = 5,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(
            n_features_to_select=n_features_to_select,
            alpha=alpha,
            alpha_ratio=alpha_ratio,
            criterion=criterion,
            keep=keep,
            exclude=exclude,
            penalty_weights=penalty_weights,
            groups=groups,
            group_weights=group_weights,
            n_groups_to_select=n_groups_to_select,
            l1_ratio=l1_ratio,
            ridge=ridge,
            positive=positive,
            solver=solver,
            task=task,
            x_kernel=x_kernel,
            y_kernel=y_kernel,
            x_width=x_width,
            y_width=y_width,
            y_transform=y_transform,
            multioutput=multioutput,
            joint=joint,
            covariates=covariates,
            covariate_method=covariate_method,
            missing=missing,
            min_observed=min_observed,
            missing_target=missing_target,
            tol=tol,
            embedding=embedding,
            n_neighbors=n_neighbors,
            n_jobs=n_jobs,
        )
        self.epsilon = epsilon

    def _measure(self) -> Measure:
        return make_measure("nocco", self.epsilon)
