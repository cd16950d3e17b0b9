"""Compiled loops that decode genotypes; `tests/data` compares them with bed-reader.

A byte has the calls of four samples, two bits each, the first sample in the lowest bits. The codes
0, 1, 2 and 3 mean two copies of the first allele, a missing call, one copy and none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled, inlined
from hsiclasso._types import IntArray

__all__ = ["decode", "decode_as_numbers"]

CodeArray = npt.NDArray[np.uint8]

#: Side of a tile that is transposed within the cache.
_TILE = 64


@inlined
def _copies(byte: np.uint8) -> np.uint8:
    """Replace the codes of a byte by copies of the first allele, and by 3 for a missing call."""
    return np.uint8((~byte & 0xAA) | ((byte ^ (byte >> 1)) & 0x55))


@compiled
def decode(packed: CodeArray, begin: int, out: CodeArray) -> None:
    """Decode variants (k, b), each of them contiguous, from byte `begin` to `out` (n, k)."""
    k, n_bytes = packed.shape[0], (out.shape[0] + 3) // 4
    tile = np.empty((_TILE, _TILE), dtype=np.uint8)
    for start in range(0, k, _TILE):
        width = min(_TILE, k - start)
        for first in range(0, n_bytes, _TILE):
            height = min(_TILE, n_bytes - first)
            for b in range(height):
                row = tile[b]
                for c in range(width):
                    row[c] = _copies(packed[start + c, begin + first + b])
            for b in range(height):
                row = tile[b]
                for s in range(min(4, out.shape[0] - 4 * (first + b))):
                    calls = out[4 * (first + b) + s][start : start + width]
                    shift = np.uint8(2 * s)
                    for c in range(width):
                        calls[c] = (row[c] >> shift) & np.uint8(3)


@compiled
def decode_as_numbers(packed: CodeArray, columns: IntArray, out: Any) -> None:
    """Decode some variants of (k, b) to numbers `out` (columns, n), NaN for missing calls."""
    numbers = np.array([0.0, 1.0, 2.0, np.nan], dtype=out.dtype)
    for c in range(columns.size):
        variant, row = packed[columns[c]], out[c]
        for i in range(row.size):
            row[i] = numbers[(_copies(variant[i >> 2]) >> (2 * (i & 3))) & 3]
