"""The selector that keeps the features whose tests find them."""

from __future__ import annotations

from typing import Any, Self

from hsiclasso.data import as_dataset
from hsiclasso.dependence import Progress
from hsiclasso.inference.results import Mode, check_mode
from hsiclasso.inference.scan import ScanOptions, scan_table
from hsiclasso.selectors import Resources
from hsiclasso.selectors.estimators import ColumnSelector

__all__ = ["SelectByTest"]


class SelectByTest(ColumnSelector):
    r"""Select the features on which the target depends significantly.

    Every feature is tested on its own with HSIC, and the errors of all tests are bounded together;
    see `hsic_scan`. How many features are selected follows from the data, and may be none. Copies
    of a relevant feature are selected with it.

    Parameters
    ----------
    mode : str, default="fdr"
        What `level` bounds or counts: ``"fdr"`` the false discovery rate (Benjamini-Hochberg),
        ``"fdr_by"`` the same under any dependence (Benjamini-Yekutieli), ``"fwe"`` the probability
        of any false discovery (Holm), ``"fwe_permutation"`` the same by permutations
        (Westfall-Young), ``"fpr"`` the p-value, ``"n_features"`` a number, ``"percentile"`` a
        share of the features.
    level : float or int, default=0.1
        A number between 0 and 1; for ``"n_features"`` a whole number.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    target : str or Target, default="auto"
        What y is, as in `HSICLasso`. Real targets are compared by their normal scores;
        ``Real(transform=None)`` takes the values.
    missing : {"error", "ignore"} or Ignore, default="error"
        With ``"ignore"``, each feature is tested on the samples on which it is observed.
    n_permutations : int, default=0
        Random orders of the target, such as 999, for ``"fwe_permutation"``.
    random_state : int, Generator or None, default=None
        Source of these orders.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.
    resources : Resources, default=None
        Memory that may be used, a folder in which finished work is kept, a Dask cluster.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns by increasing p-value.
    p_value_, q_value_ : ndarray of shape (n_features,)
        p-values, and those adjusted by Benjamini and Hochberg.
    result_ : HSICScan
        The tests of all features.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Examples
    --------
    >>> from hsiclasso import SelectByTest, make_data1
    >>> X, y, causal = make_data1(200, 500, random_state=0)
    >>> selector = SelectByTest("fwe", 0.05).fit(X, y)
    >>> set(selector.selected_) <= set(causal)
    True
    """

    def __init__(
        self,
        mode: Mode = "fdr",
        level: float = 0.1,
        *,
        kernel: Any = "auto",
        target: Any = "auto",
        missing: Any = "error",
        n_permutations: int = 0,
        random_state: Any = None,
        n_jobs: int | None = -1,
        resources: Resources | None = None,
    ) -> None:
        self.mode = mode
        self.level = level
        self.kernel = kernel
        self.target = target
        self.missing = missing
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.resources = resources

    def fit(self, X: Any, y: Any = None, progress: Progress | None = None) -> Self:
        """Test all features, and select those that are found.

        Parameters
        ----------
        X, y
            As in `HSICLasso.fit`.
        progress : callable, optional
            Called with the name of a stage, the units done and the units in all.

        Returns
        -------
        self
        """
        check_mode(self.mode, self.level)
        data = as_dataset(X, y)
        self._set_names(X, data.source)
        options = ScanOptions(
            self.kernel, self.target, None, self.missing, self.n_permutations, self.random_state,
            self.n_jobs, self.resources,
        )  # fmt: skip
        self.result_ = scan_table(options, data, progress)
        self.p_value_, self.q_value_ = self.result_.p_value, self.result_.q_value
        self.selected_ = self.result_.index[self.result_.selected(self.mode, self.level)]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        return tags
