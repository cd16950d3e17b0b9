"""Clustering the selected features and their neighbours by 1 - similarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso._types import FloatArray
from hsiclasso.compat.fitting import Fit, compared, similarity_rows
from hsiclasso.data import Source
from hsiclasso.data.subset import ColumnSubset
from hsiclasso.errors import InvalidInputError

__all__ = ["Tree", "link"]

_METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")


@dataclass(frozen=True)
class Tree:
    """A tree of features."""

    #: Columns of its leaves.
    columns: list[int]
    #: The tree, as SciPy has it.
    linked: FloatArray


def link(source: Source, fit: Fit, method: str) -> Tree:
    """Cluster the selected features and their neighbours.

    Those of the last selected feature are among them, which pyHSICLasso leaves out.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    check_choice("method", method, _METHODS)
    columns = list(dict.fromkeys(k for near in fit.neighbours for k in near))
    if len(columns) < 2:
        raise InvalidInputError(
            f"linkage needs two features or more, and there are {len(columns)}: select more, or "
            "fit with a larger max_neighbors."
        )
    leaves = ColumnSubset(source, np.array(columns))
    everything = np.arange(len(columns))
    similarities = similarity_rows(compared(leaves, fit.kernel), everything, everything)
    distances = np.maximum(0.0, 1 - similarities)
    np.fill_diagonal(distances, 0.0)
    return Tree(columns, linkage(squareform(0.5 * (distances + distances.T)), method))
