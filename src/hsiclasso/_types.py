"""Array types used in signatures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["AnyArray", "BoolArray", "Columns", "FloatArray", "IntArray", "SingleArray"]

AnyArray = npt.NDArray[np.generic]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
SingleArray = npt.NDArray[np.float32]
#: Which columns of a table: a range, or indices.
Columns = slice | IntArray
