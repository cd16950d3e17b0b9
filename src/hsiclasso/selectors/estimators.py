"""The estimators users call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import Signature, signature
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_whole
from hsiclasso._types import BoolArray, IntArray
from hsiclasso.data import Source, as_dataset, as_source, is_anndata, is_container
from hsiclasso.data.door import check_rows
from hsiclasso.data.subset import ColumnSubset
from hsiclasso.dependence import Progress
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.auto import inference, is_auto
from hsiclasso.selectors.callbacks import CallbackSupport, Followed
from hsiclasso.selectors.columns import ColumnFinder
from hsiclasso.selectors.pipeline import Selection, select
from hsiclasso.selectors.resources import Resources
from hsiclasso.selectors.result import SelectionResult

__all__ = ["ColumnSelector", "HSICLasso", "LassoSelector", "NOCCOLasso"]

Columns = Sequence[str | int]
SolverName = Literal["auto", "homotopy", "cd", "dal"]


class ColumnSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that selects columns; `fit` sets `selected_` and `n_features_in_`."""

    selected_: IntArray
    n_features_in_: int
    #: Whether frames are looked up by name: that of the fit had the target too, or it was a file.
    _by_name = False

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "selected_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Return the table with the selected columns only, in the order of the table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Of a file or an array that is not in memory, only the selected columns are read. In a
            table with names of its own they are found by name; in a frame, too, if `fit` took the
            target by name, so that it may be passed whole. Of an AnnData, the part with the
            selected genes is returned.

        Returns
        -------
        table of shape (n_samples, n_selected)
        """
        if is_container(X):
            return super().transform(self._columns_of_fit(X))
        source = as_source(X, min_samples=1)
        columns = self._places(source, np.flatnonzero(self._get_support_mask()))
        return X[:, columns] if is_anndata(X) else source.read(columns)

    def _columns_of_fit(self, X: Any) -> Any:
        """Return a frame without columns that were not features, if `fit` found these by name."""
        names = getattr(self, "feature_names_in_", np.zeros(0, dtype=object)).tolist()
        found = self._by_name and set(names) <= set(getattr(X, "columns", ()))
        return X[names] if names and found else X

    def _source(self, X: Any) -> Source:
        """Return a table with the columns of the fit, in their order."""
        check_is_fitted(self)
        if is_container(X):
            X = self._columns_of_fit(X)
            source = as_source(X, min_samples=1)
            validate_data(self, X, reset=False, skip_check_array=True)
            return source
        source = as_source(X, min_samples=1)
        return ColumnSubset(source, self._places(source, np.arange(self.n_features_in_)))

    def _places(self, source: Source, columns: IntArray) -> IntArray:
        """Return where columns of the fit are in another table: by name, if it has names."""
        if source.named and hasattr(self, "feature_names_in_"):
            return ColumnFinder(source)("X", self.feature_names_in_[columns].tolist())
        if source.n_features != self.n_features_in_:
            raise InvalidInputError(
                f"X has {source.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return columns

    def _set_names(self, X: Any, source: Source) -> None:
        """Set the number of features, and their names if they have any."""
        n_columns = getattr(X, "shape", (0, source.n_features))[1:]  # a frame may have the target
        self._by_name = not (is_container(X) and n_columns == (source.n_features,))
        if not self._by_name:
            validate_data(self, X, skip_check_array=True)
            return
        self.n_features_in_ = source.n_features
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if source.named:
            names = [source.name(j) for j in range(source.n_features)]
            self.feature_names_in_ = np.array(names, dtype=object)


def values_of(X: Any, y: Any) -> Any:
    """Return a target, looked up in a table if it is given by name."""
    return as_dataset(X, y).y if isinstance(y, str) else y


def with_target_names(result: SelectionResult, names: tuple[str, ...]) -> SelectionResult:
    """Return a result that knows what the target is called."""
    return replace(result, data=replace(result.data, target=names))


class LassoSelector(CallbackSupport, ColumnSelector):  # type: ignore[misc]
    """What the lassos share: everything but their parameters."""

    #: Whether missing values are refused or ignored, a parameter of all of them.
    missing: Any

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        covariates: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, sparse matrix, pandas or polars DataFrame of shape (n_samples, n_features)
            Numbers, booleans, categories or text. Neither copied as a whole nor written to.
            Arrays that are not in memory (memory-mapped, HDF5, Zarr) are read by chunks. Or an
            AnnData, or the path of a file.
        y : array-like or str
            Target: one value per sample, a table of outputs or labels, times and events, or a
            matrix between samples; see `target`. For a file or a frame, also the name of its
            target column, or a list of names; for an AnnData, that of a column of `obs`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: 2 counts a sample twice, 0 leaves it out.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Covariates that are no columns of X.
        progress : callable, optional
            Called with the name of a stage, the units done and the units in all. With
            scikit-learn 1.9 or newer, ``set_callbacks(ProgressBar())`` shows the same.

        Returns
        -------
        self
        """
        data = as_dataset(X, y)
        check_rows(X, data.source, sample_weight=sample_weight, covariates=covariates)
        self._set_names(X, data.source)
        weights = data.weights if sample_weight is None else sample_weight
        selecting = inference().select_auto if is_auto(self) else select
        with Followed(self, progress) as followed:
            selection = selecting(
                self,
                data.source,
                data.y,
                sample_weight=weights,
                covariates=covariates,
                progress=followed,
            )
        result = with_target_names(selection.result, data.target_names)
        self._keep(replace(selection, result=result))
        return self

    def _keep(self, selection: Selection) -> None:
        """Set the attributes, in columns of the table instead of features."""
        features, problem = selection.features, selection.problem
        self.result_ = selection.result
        self.path_ = selection.result.path
        self.coef_ = features.on_columns(selection.coefficients, 0.0)
        self.relevance_ = features.on_columns(problem.relevance, 0.0)
        self.n_observed_ = features.on_columns(problem.observed, features.n_samples)
        self.selected_kernel_ = selection.kernel
        self._features = (selection.path, selection.selected, selection.kept)
        self._first = features.first
        #: Columns of the features that have several.
        self._several = {
            k: features.columns_of(k)
            for k in [*features.joint, *selection.path.entered.tolist()]
            if k in features.joint or k >= features.n_single
        }
        self._is_nested = selection.inputs.offer is None or selection.inputs.offer.is_nested
        self.selected_ = self._columns(selection.selected)
        for name in ("p_values_", "q_values_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if selection.tested is not None:
            self.p_values_, self.q_values_ = (
                features.on_columns(values, 1.0) for values in selection.tested
            )

    def _columns(self, features: IntArray) -> IntArray:
        """Columns of features, in their order, each once."""
        if not self._several:
            return self._first[features]
        parts = [self._several.get(k, self._first[[k]]) for k in features.tolist()]
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *parts]).tolist()
        return np.array(list(dict.fromkeys(columns)), dtype=np.int64)

    def selected_of_size(self, size: int) -> IntArray:
        """Return the columns that would be selected if fewer features had been asked for.

        They are those of a fit with this number, also where features make up the number.

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
        check_whole("size", size)
        path, selected, kept = self._features
        most, least = selected.size, max(1, kept.size)
        if not least <= size <= most:
            raise InvalidInputError(
                f"size={size}, but {most} features were selected, of which {kept.size} are "
                f"always kept: ask for {least} to {most}, or fit again with more."
            )
        if size == most:
            return self._columns(selected)
        if not self._is_nested:
            raise InvalidInputError(
                "The interactions that a fit may select depend on the number of features here "
                "(interactions='selected', a hierarchy or n_interactions): fit again with "
                f"n_features_to_select={size}."
            )
        if self.result_.error_control is not None:
            raise InvalidInputError(
                f"size={size}, but tests found that {most} features are needed, and say nothing of "
                f"fewer: fit again with n_features_to_select={size}."
            )
        if not path.exact:
            raise InvalidInputError(
                f"solver={self.result_.method.solver!r} follows no exact path: fit again with "
                f"n_features_to_select={size}."
            )
        found = path.selected_of_size(size, kept)
        # the path never has so many: its end has all that a positive weight could use
        return self._columns(selected[:size] if found is None else found)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the objects, as in ``target__transform="rank"``."""
        known = self.get_params(deep=False)
        for name in params:
            option, _, inner = name.partition("__")
            value = params.get(option, known.get(option))
            if inner and option in known and not hasattr(value, "set_params"):
                raise InvalidInputError(
                    f"{name}={params[name]!r}, but {option}={value!r} has no parameters of its "
                    "own: pass an object first, as in target=Real(transform='rank') or "
                    "kernel=Gaussian(width=0.5)."
                )
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        return tags


class HSICLasso(LassoSelector):
    r"""Feature selection by the Hilbert-Schmidt independence criterion lasso.

    Solves, to its certified global optimum,

    .. math:: \min_{a \ge 0} \tfrac12 \Big\|\bar L - \sum_k a_k \bar K^{(k)}\Big\|_F^2
              + \lambda \|a\|_1

    where :math:`\bar K^{(k)}` is the centred Gram matrix of column k and :math:`\bar L` that of
    the target: a feature gets a positive weight if the target depends on it, linearly or not,
    and no chosen feature carries the same information. Features that are too similar to a chosen
    one are left out of the problem, see `max_redundancy`.

    Parameters
    ----------
    n_features_to_select : int or "auto", default=None
        Number of features. None is ten, or all if there are fewer, unless `alpha` is given.
        ``"auto"`` finds the number by tests: it selects what `ControlledSelection` around this
        selector does, one feature of each cluster, with a false discovery rate of at most 0.1. It
        may select nothing. `max_redundancy` is 0.2 then, unless it is given.
    alpha : float, {"aic", "bic"} or AlphaRatio, default=None
        Penalty :math:`\lambda` at which to stop; 0 is the end of the path, least squares, which
        is centred kernel target alignment. ``AlphaRatio(0.1)`` is a share of the largest
        penalty. A criterion chooses the penalty among those with at most
        `n_features_to_select` features, 50 by default. Of several stops, the first that the
        falling penalty reaches counts.
    max_redundancy : float or "auto", default="auto"
        Similarity, above 0 and at most 1, above which a feature is left out of the path because
        another joined before it; `result_.clusters` lists it there. The optimum is then that of
        the features that remain. 1.0 is the paper's path, which leaves nothing out. ``"auto"`` is
        0.6, and 1.0 for groups and the elastic net.
    fill : bool, default=True
        Whether features make up the number asked for if the path ends before it: relevant ones,
        as unlike the others as possible. They have weight 0.
    measure : {"hsic", "nhsic", "nocco"} or NOCCO, default="hsic"
        ``"hsic"`` is the paper's; ``"nhsic"`` divides every Gram matrix by its Frobenius norm, as
        pyHSICLasso does; ``"nocco"`` shrinks its eigenvalues, as ``NOCCO(epsilon=1e-3)``.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features. ``"auto"``: Gaussian for numbers, plain delta for booleans,
        categories and text. By name, such as ``"laplace"`` (`hsiclasso.kernels.KERNELS` lists
        all), or an object such as ``Gaussian(width=0.5)``. A mapping gives kernels by column,
        kind (``"number"``, ``"bool"``, ``"category"``, ``"text"``) or dtype.
    target : str or Target, default="auto"
        What y is. ``"auto"`` finds out: see `Auto`. By name: ``"real"``, ``"classes"``,
        ``"labels"``, ``"ordinal"``, ``"counts"``, ``"survival"``, ``"affinity"``, ``"graph"``. An
        object has parameters, as in ``Real(transform="rank")`` or ``Classes(missing="drop")``;
        ``Objects(function)`` takes any objects and a function that compares two of them.
    penalty : {"lasso", "elastic_net"}, Lasso, ElasticNet or GroupLasso, default="lasso"
        ``Lasso(weights, positive)``, ``ElasticNet(l1_ratio)`` or ``GroupLasso(groups)``.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are not penalised and always selected; and columns that
        are never selected.
    joint : mapping of str to columns, default=None
        Features made of several columns under one kernel, such as coordinates, by their names.
    covariates : sequence of str or int, or Covariates, default=None
        Columns whose influence is removed, such as batch or age; values of your own go to `fit`.
    missing : {"error", "ignore"} or Ignore, default="error"
        With ``"ignore"``, a missing value adds nothing: each feature is judged on the samples
        on which it is observed. ``Ignore(min_observed=0.8)`` says how many these must be.
    solver : {"auto", "homotopy", "cd", "dal"}, default="auto"
        ``"auto"`` takes the exact homotopy for the lasso and coordinate descent for other
        penalties; ``"dal"`` is the dual augmented Lagrangian method of the paper. All reach the
        same optimum and certify it.
    gram_error : float, default=1e-6
        Guaranteed relative error of a feature's Gram matrix. The default gives the same
        selection as dense matrices; 1e-10 is the tight choice.
    interactions : {"all", "selected"}, list of tuples or Interactions, default=None
        Pairs of features that compete with single ones: what two features say together beyond
        each alone. ``"all"`` scans all pairs, ``"selected"`` takes those of the features that are
        selected without pairs, and a list such as ``[("gene1", "gene2")]`` names them.
        ``Interactions(among=1000)`` scans pairs of the most relevant features only, and has a
        `hierarchy`.
    n_interactions : int, default=None
        Most interactions that are selected, of the `n_features_to_select` in all; None sets no
        limit.
    n_neighbors : int, default=0
        Most similar features listed for each selected one. They are found among all features by
        one more pass over the table, which may take longer than the selection.
    n_jobs : int, default=-1
        Threads of the passes over the table; -1 takes all cores.
    resources : Resources, default=None
        Memory that may be used, a folder in which finished work is kept, a Dask cluster. None
        stands for half of the memory that is free and the threads of this process.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, zero for features that are not selected. Those of interactions are in `result_`.
    selected_ : ndarray of shape (n_selected,)
        Columns by decreasing weight, those of interactions included.
    relevance_ : ndarray of shape (n_features,)
        HSIC of every feature with the target; 0 for covariates. For features that the path never
        came near it may be an estimate, usually off by less than 1e-4 of the largest relevance;
        with a `gram_error` below 1e-6 all values are exact to that error.
    n_observed_ : ndarray of shape (n_features,)
        Number of samples on which each feature is not missing.
    path_ : SolutionPath
        Solution path with its breakpoints.
    result_ : SelectionResult
        Names, weights, certificate; ``to_frame()``, ``to_json()``, ``plot()``.
    selected_kernel_ : SelectedKernel
        The learnt kernel :math:`\sum_k a_k K_k`, for support vector machines and the like.
    p_values_, q_values_ : ndarray of shape (n_features,)
        Only with ``n_features_to_select="auto"``, as in `ControlledSelection`.
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
        n_features_to_select: int | Literal["auto"] | None = None,
        *,
        alpha: Any = None,
        max_redundancy: Any = "auto",
        fill: bool = True,
        measure: Any = "hsic",
        kernel: Any = "auto",
        target: Any = "auto",
        penalty: Any = "lasso",
        keep: Columns | None = None,
        exclude: Columns | None = None,
        joint: Mapping[str, Columns] | None = None,
        covariates: Any = None,
        missing: Any = "error",
        solver: SolverName = "auto",
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
        self.measure = measure
        self.kernel = kernel
        self.target = target
        self.penalty = penalty
        self.keep = keep
        self.exclude = exclude
        self.joint = joint
        self.covariates = covariates
        self.missing = missing
        self.solver = solver
        self.gram_error = gram_error
        self.interactions = interactions
        self.n_interactions = n_interactions
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.resources = resources


def _with_default(init: Callable[..., None], name: str, default: Any) -> Callable[..., None]:
    """Return a constructor with another default of one parameter, in its signature too."""

    @wraps(init)
    def constructor(self: Any, *args: Any, **params: Any) -> None:
        init(self, *args, **{name: default, **params})

    parameters = dict(signature(init).parameters)
    parameters[name] = parameters[name].replace(default=default)
    constructor.__signature__ = Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return constructor


class NOCCOLasso(HSICLasso):
    r"""Feature selection by the normalised cross-covariance operator lasso.

    ``HSICLasso(measure=NOCCO(1e-3))``: the problem of `HSICLasso` with
    :math:`\bar K(\bar K + \epsilon n I)^{-1}` in place of every centred Gram matrix, which makes
    the measure less sensitive to the kernel width. All other parameters and the attributes are
    those of `HSICLasso`.

    Parameters
    ----------
    n_features_to_select : int or "auto", default=None
        Number of features. None is ten, or all if there are fewer, unless `alpha` is given;
        ``"auto"`` finds it by tests, as in `HSICLasso`.
    alpha, max_redundancy, fill, kernel, target, penalty, keep, exclude, joint, covariates
        As in `HSICLasso`.
    missing, solver
        As in `HSICLasso`.
    measure : {"nocco"} or NOCCO, default="nocco"
        ``NOCCO(epsilon)`` gives the regularisation :math:`\epsilon > 0` of the inverse, 1e-3 by
        default.
    gram_error, interactions, n_interactions, n_neighbors, n_jobs, resources
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

    __init__ = _with_default(HSICLasso.__init__, "measure", "nocco")
