"""HSIC Lasso behind the interface of pyHSICLasso 1.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.compat.fitting import Settings, fit, write_similarities
from hsiclasso.compat.report import listing, write_parameters, write_scores
from hsiclasso.compat.state import State
from hsiclasso.compat.tables import (
    check_arguments,
    from_arrays,
    from_file,
    from_frame,
    is_frame,
    is_path,
)
from hsiclasso.compat.tree import link
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HSICLasso"]


class HSICLasso(State):
    """HSIC Lasso with the calls of pyHSICLasso 1.4, always exact.

    A program that moves over changes its import. It then gets the features and scores that
    pyHSICLasso has with ``B=0``, where that has an answer: normalised HSIC, Gaussian kernels of
    width 1 (delta kernels for classes and with ``discrete_x=True``). Blocks are never made, because
    the exact fit needs neither their memory nor their time; a `BlocksWarning` says so. New programs
    should use `hsiclasso.HSICLasso`, which can do more. ``docs/moving.md`` compares the calls.

    Attributes
    ----------
    X_in : ndarray of shape (n_features, n_samples)
        The table, transposed; None before `input`.
    Y_in : ndarray of shape (n_outputs, n_samples)
        The target; None before `input`.
    featname : list of str
        Names of the features; None before `input`.
    A : list of int
        Selected columns, heaviest first; None before a fit, like all that follow.
    beta : ndarray of shape (n_features, 1)
        Weights.
    path : ndarray of shape (n_features, n_steps)
        Weights where the path bends.
    lam : ndarray of shape (n_steps,)
        Penalties there, falling.
    A_neighbors, A_neighbors_score : list
        For each selected feature itself and the most similar others, and their similarities.
    max_neighbors : int
        Most similar features that are kept for each selected one; 10 before a fit.
    linkage_dist : ndarray
        The tree of `linkage`, as SciPy has it; None before it, like all that follow.
    hclust_featname, hclust_featnameindex : list
        Names and columns of its leaves.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.compat import HSICLasso
    >>> X, y, causal = make_data1(200, 20, random_state=0)
    >>> model = HSICLasso()
    >>> model.input(X, y, featname=[f"gene{j}" for j in range(20)])
    True
    >>> model.regression(4, B=0)
    True
    >>> sorted(model.get_features()) == sorted(f"gene{j}" for j in causal)
    True
    """

    def input(
        self, *args: Any, output_list: Sequence[str] | None = None, featname: Any = None
    ) -> bool:
        """Take a table and a target; what was found in another one is forgotten.

        Parameters
        ----------
        *args
            The path of a ``.csv``, ``.tsv`` or ``.mat`` file; or a frame with the target among its
            columns; or X of shape (n_samples, n_features) and y, both arrays or both lists, or X a
            frame; and, optionally, the names of the features.
        output_list : sequence of str, default=None
            Names of the target columns of a file or frame; None is ``["class"]``.
        featname : sequence of str, default=None
            Names of the features, by default those of a frame, or 1, 2, ...

        Returns
        -------
        bool
            True.
        """
        self._table = None
        self._forget()
        self._check_args(args)
        X, *others = args
        names = others[1] if len(others) > 1 else featname
        if others and output_list is not None:
            raise InvalidInputError(
                f"output_list={output_list!r} names the target, and y is given too: pass only one "
                "of them."
            )
        if is_path(X):
            if names is not None:
                raise InvalidInputError("featname: a file has names of its own; leave it out.")
            self._table = from_file(X, output_list)
        elif is_frame(X):
            self._table = from_frame(X, others[0] if others else None, names, output_list)
        else:
            self._table = from_arrays(X, others[0], names)
        return self._check_shape()

    def regression(
        self,
        num_feat: int = 5,
        B: int = 20,
        M: int = 3,
        discrete_x: bool = False,
        max_neighbors: int = 10,
        n_jobs: int | None = -1,
        covars: Any = None,
        covars_kernel: str = "Gaussian",
    ) -> bool:
        """Select features for a real target, of one output or several.

        Parameters
        ----------
        num_feat : int, default=5
            Number of features. Fewer are selected, with a warning, if no more get a weight.
        B, M : int, default=20, 3
            Block size and number of permutations of pyHSICLasso. The fit is always exact, as with
            ``B=0``; other values get a `BlocksWarning`.
        discrete_x : bool, default=False
            Whether features are labels, which a delta kernel compares.
        max_neighbors : int, default=10
            Most similar features to keep for each selected one.
        n_jobs : int, default=-1
            Number of threads; -1 for all cores.
        covars : array-like of shape (n_samples, n_covariates), default=None
            Covariates, whose kernel matrix is subtracted from the target's.
        covars_kernel : {"Gaussian", "Delta"}, default="Gaussian"
            Their kernel, one for all together.

        Returns
        -------
        bool
            True.
        """
        settings = Settings(
            num_feat, B, M, discrete_x, max_neighbors, n_jobs, covars, covars_kernel
        )
        return self._run(settings, classes=False)

    def classification(
        self,
        num_feat: int = 5,
        B: int = 20,
        M: int = 3,
        discrete_x: bool = False,
        max_neighbors: int = 10,
        n_jobs: int | None = -1,
        covars: Any = None,
        covars_kernel: str = "Gaussian",
    ) -> bool:
        """Select features for a target of classes, numbers or text.

        Parameters
        ----------
        num_feat, B, M, discrete_x, max_neighbors, n_jobs, covars, covars_kernel
            As for `regression`.

        Returns
        -------
        bool
            True.
        """
        settings = Settings(
            num_feat, B, M, discrete_x, max_neighbors, n_jobs, covars, covars_kernel
        )
        return self._run(settings, classes=True)

    def linkage(self, method: str = "ward") -> bool:
        """Cluster the selected features and their neighbours by 1 - similarity.

        Parameters
        ----------
        method : str, default="ward"
            A method of `scipy.cluster.hierarchy.linkage`.

        Returns
        -------
        bool
            True.
        """
        found = self._fitted("linkage")
        self._tree = link(self._given("linkage").source, found, method)
        return True

    def dump(self) -> None:
        """Print the selected features with their scores and the most similar features.

        Scores are in units of the largest.
        """
        text = listing(self._fitted("dump"), self._given("dump").names)
        print(text)  # noqa: T201  # printing is what this method is for

    def get_index(self) -> list[int]:
        """Return the selected columns, heaviest first."""
        return list(self._fitted("get_index").index)

    def get_index_score(self) -> FloatArray:
        """Return the weights of the selected features."""
        found = self._fitted("get_index_score")
        return found.weights[found.index]

    def get_features(self) -> list[str]:
        """Return the names of the selected features, heaviest first."""
        found = self._fitted("get_features")
        names = self._given("get_features").names
        return [names[k] for k in found.index]

    def get_index_neighbors(self, feat_index: int = 0, num_neighbors: int = 5) -> list[int]:
        """Return the columns that are most similar to a selected feature.

        Parameters
        ----------
        feat_index : int, default=0
            Place among the selected features; negative ones count from the end.
        num_neighbors : int, default=5
            Number of columns, at most `max_neighbors` of the fit.

        Returns
        -------
        list of int
            Most similar first.
        """
        found = self._fitted("get_index_neighbors")
        place = self._place(found, feat_index, num_neighbors)
        return found.neighbours[place][1 : num_neighbors + 1]

    def get_features_neighbors(self, feat_index: int = 0, num_neighbors: int = 5) -> list[str]:
        """Return the names of the features that are most similar to a selected one.

        Parameters
        ----------
        feat_index, num_neighbors : int, default=0, 5
            As for `get_index_neighbors`.

        Returns
        -------
        list of str
            Most similar first.
        """
        self._fitted("get_features_neighbors")
        names = self._given("get_features_neighbors").names
        return [names[k] for k in self.get_index_neighbors(feat_index, num_neighbors)]

    def get_index_neighbors_score(self, feat_index: int = 0, num_neighbors: int = 5) -> FloatArray:
        """Return the similarities of the features that are most similar to a selected one.

        Parameters
        ----------
        feat_index, num_neighbors : int, default=0, 5
            As for `get_index_neighbors`.

        Returns
        -------
        ndarray
            Normalised HSIC, between 0 and 1, most similar first.
        """
        found = self._fitted("get_index_neighbors_score")
        place = self._place(found, feat_index, num_neighbors)
        return found.similarities[place][1 : num_neighbors + 1].copy()

    def save_HSICmatrix(self, filename: str = "HSICmatrix.csv") -> bool:  # noqa: N802
        """Write the similarities of all features, normalised HSIC with Gaussian kernels, as CSV.

        Parameters
        ----------
        filename : str, default="HSICmatrix.csv"
            File with a row and a column for each feature.

        Returns
        -------
        bool
            True.
        """
        write_similarities(self._given("save_HSICmatrix"), filename)
        return True

    def save_score(self, filename: str = "aggregated_score.csv") -> None:
        """Write the scores of the selected features and their neighbours as CSV.

        A neighbour gets the score of the selected feature times their similarity, summed over the
        features that it is a neighbour of.

        Parameters
        ----------
        filename : str, default="aggregated_score.csv"
            File with the columns ``Feature``, ``Score`` and ``Pearson Corr``.
        """
        write_scores(self._fitted("save_score"), self._given("save_score"), filename)

    def save_param(self, filename: str = "param.csv") -> None:
        """Write the selected features with their scores and neighbours as CSV.

        Parameters
        ----------
        filename : str, default="param.csv"
            File with a row for each selected feature.
        """
        write_parameters(self._fitted("save_param"), self._given("save_param").names, filename)

    def plot_path(self, filepath: str = "path.png") -> Figure:
        """Draw the weights against the penalty.

        Parameters
        ----------
        filepath : str, default="path.png"
            File to write; its suffix tells the format.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from hsiclasso.compat.figures import draw_path, write_any

        figure = draw_path(self._fitted("plot_path"), self._given("plot_path").names)
        write_any(figure, filepath)
        return figure

    #: The name of `plot_path` in the examples of pyHSICLasso.
    plot = plot_path

    def plot_dendrogram(self, filepath: str = "dendrogram.png") -> Figure:
        """Draw the tree that `linkage` made.

        Parameters
        ----------
        filepath : str, default="dendrogram.png"
            File to write; its suffix tells the format.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from hsiclasso.compat.figures import draw_dendrogram, write_any

        tree, names = self._linked("plot_dendrogram")
        figure = draw_dendrogram(tree.linked, names)
        write_any(figure, filepath)
        return figure

    def plot_heatmap(self, filepath: str = "heatmap.png") -> Figure:
        """Draw the standardised features in the order of the tree that `linkage` made.

        Parameters
        ----------
        filepath : str, default="heatmap.png"
            File to write; its suffix tells the format.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from hsiclasso.compat.figures import draw_heatmap, write_any

        tree, names = self._linked("plot_heatmap")
        values = self._given("plot_heatmap").source.block(np.array(tree.columns)).T
        figure = draw_heatmap(values, tree.linked, names)
        write_any(figure, filepath)
        return figure

    def _run(self, settings: Settings, *, classes: bool) -> bool:
        table = self._given("classification" if classes else "regression")
        self._forget()
        self._check_shape()
        self._fit = fit(table, settings, classes=classes)
        self.max_neighbors = settings.max_neighbors
        return True

    # names that the tests of pyHSICLasso call

    def _check_args(self, args: Sequence[Any]) -> bool:
        check_arguments(args)
        return True

    def _check_shape(self) -> bool:
        self._given("_check_shape").check()
        return True

    def _input_data_ndarray(self, X_in: Any, Y_in: Any, featname: Any = None) -> bool:
        self._forget()
        self._table = from_arrays(X_in, Y_in, featname)
        return True

    _input_data_list = _input_data_ndarray
