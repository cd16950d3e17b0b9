"""Matrix products inside compiled loops, by the BLAS routine that Numba uses for ``np.dot``.

``np.dot`` itself would give the same result, but compiling its checks takes seconds.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.linalg import ensure_blas

__all__ = ["add_gram", "add_product"]

ensure_blas()  # type: ignore[no-untyped-call]

_BYTE, _SIZE = ir.IntType(8), ir.IntType(64)
_POINTER = _BYTE.as_pointer()
#: int gemm(kind, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
_GEMM = ir.FunctionType(
    ir.IntType(32),
    [_BYTE] * 3
    + [_SIZE] * 3
    + [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE]
    + [_POINTER] * 2
    + [_SIZE],
)


def _call_gemm(context: Any, builder: Any, arrays: list[Any], sizes: list[Any], trans: str) -> None:
    """Add a product of row-major arrays to another one.

    BLAS expects column-major arrays, and therefore reads the transposes: the factors are swapped.
    """
    gemm = cgutils.get_or_insert_function(builder.module, _GEMM, "numba_xxgemm")  # type: ignore[no-untyped-call]
    one = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 1.0))  # type: ignore[no-untyped-call]
    one = builder.bitcast(one, _POINTER)
    left, right, out = (builder.bitcast(array.data, _POINTER) for array in arrays)
    m, n, k = sizes
    letters = [ir.Constant(_BYTE, ord(letter)) for letter in ("d", trans, "n")]
    wide = k if trans == "t" else n
    builder.call(gemm, [*letters, n, m, k, one, right, wide, left, k, one, out, n])


@intrinsic
def add_product(_context: Any, a: Any, b: Any, out: Any) -> Any:
    """Add ``a @ b`` to `out`: (m, k), (k, n) and (m, n), all C-contiguous doubles."""
    signature = types.void(a, b, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        ]
        m, k = cgutils.unpack_tuple(builder, arrays[0].shape)  # type: ignore[no-untyped-call]
        _, n = cgutils.unpack_tuple(builder, arrays[1].shape)  # type: ignore[no-untyped-call]
        _call_gemm(context, builder, arrays, [m, n, k], "n")
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_gram(_context: Any, a: Any, out: Any) -> Any:
    """Add ``a @ a.T`` to `out`: (m, k) and (m, m), C-contiguous doubles.

    For these sizes, the general routine of BLAS is faster than the one for symmetric products.
    """
    signature = types.void(a, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, total = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        )
        m, k = cgutils.unpack_tuple(builder, array.shape)  # type: ignore[no-untyped-call]
        _call_gemm(context, builder, [array, array, total], [m, m, k], "t")
        return context.get_dummy_value()

    return signature, generate
