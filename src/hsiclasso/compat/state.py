"""What a model of pyHSICLasso's interface holds, and what it shows of it."""

from __future__ import annotations

from typing import Any

from hsiclasso._checks import check_whole
from hsiclasso._types import FloatArray
from hsiclasso.compat.errors import CallOrderError, NoSuchFeatureError
from hsiclasso.compat.fitting import Fit
from hsiclasso.compat.tables import Table
from hsiclasso.compat.tree import Tree

__all__ = ["State"]


class State:
    """The table, the fit and the tree of a model; each step forgets what follows from it.

    Attributes are None before the step that finds them. What they return is a copy.
    """

    def __init__(self) -> None:
        self._table: Table | None = None
        self._fit: Fit | None = None
        self._tree: Tree | None = None
        self.max_neighbors = 10

    @property
    def X_in(self) -> FloatArray | None:  # noqa: N802
        """The table (n_features, n_samples)."""
        return None if self._table is None else self._table.features_by_samples

    @property
    def Y_in(self) -> Any:  # noqa: N802
        """The target (n_outputs, n_samples)."""
        return None if self._table is None else self._table.outputs_by_samples

    @property
    def featname(self) -> list[str] | None:
        """Names of the features."""
        return None if self._table is None else self._table.names

    @property
    def A(self) -> list[int] | None:  # noqa: N802
        """Selected columns, heaviest first."""
        return None if self._fit is None else list(self._fit.index)

    @property
    def beta(self) -> FloatArray | None:
        """Weights (n_features, 1)."""
        return None if self._fit is None else self._fit.weights[:, None].copy()

    @property
    def path(self) -> FloatArray | None:
        """Weights (n_features, n_steps) where the path bends."""
        return None if self._fit is None else self._fit.weights_along_path()

    @property
    def lam(self) -> FloatArray | None:
        """Penalties where the path bends, falling."""
        return None if self._fit is None else self._fit.path.alphas

    @property
    def A_neighbors(self) -> list[list[int]] | None:  # noqa: N802
        """Each selected column and those most similar to it."""
        return None if self._fit is None else [list(near) for near in self._fit.neighbours]

    @property
    def A_neighbors_score(self) -> list[FloatArray] | None:  # noqa: N802
        """Similarities of the neighbours."""
        return None if self._fit is None else [near.copy() for near in self._fit.similarities]

    @property
    def linkage_dist(self) -> FloatArray | None:
        """The tree of features, as SciPy has it."""
        return None if self._tree is None else self._tree.linked.copy()

    @property
    def hclust_featnameindex(self) -> list[int] | None:
        """Columns of the leaves of the tree."""
        return None if self._tree is None else list(self._tree.columns)

    @property
    def hclust_featname(self) -> list[str] | None:
        """Names of the leaves of the tree."""
        return None if self._tree is None else self._linked("hclust_featname")[1]

    def _forget(self) -> None:
        """Forget what was found."""
        self._fit = self._tree = None
        self.max_neighbors = 10

    def _given(self, method: str) -> Table:
        """Return the table, or say that there is none."""
        if self._table is None:
            raise CallOrderError(f"{method} needs data: call input(X, y) or input(file) first.")
        return self._table

    def _fitted(self, method: str) -> Fit:
        """Return the fit, or say that there is none."""
        self._given(method)
        if self._fit is None:
            raise CallOrderError(
                f"{method} needs selected features: call regression() or classification() first."
            )
        return self._fit

    def _linked(self, method: str) -> tuple[Tree, list[str]]:
        """Return the tree and the names of its leaves, or say that there is none."""
        self._fitted(method)
        if self._tree is None:
            raise CallOrderError(f"{method} needs a tree of features: call linkage() first.")
        names = self._given(method).names
        return self._tree, [names[k] for k in self._tree.columns]

    @staticmethod
    def _place(found: Fit, feat_index: int, num_neighbors: int) -> int:
        """Check a place among the selected features, and a number of neighbours."""
        check_whole("num_neighbors", num_neighbors, least=0)
        size = len(found.index)
        if not -size <= feat_index < size:
            raise NoSuchFeatureError(
                f"feat_index={feat_index}, but {size} features were selected: their places count "
                "from 0."
            )
        return feat_index
