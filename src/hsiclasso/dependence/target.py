"""Target vector -> the factor every feature is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsiclasso._types import FloatArray
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.split import SplitRows, split_rows
from hsiclasso.embedding import Embedding, factor_columns

__all__ = ["Target", "make_target"]


@dataclass(frozen=True)
class Target:
    """The target's matrix T in factored form.

    Attributes
    ----------
    rows : SplitRows
        Rows F with ``F.T @ F`` equal to T.
    norm2 : float
        Squared Frobenius norm of T.
    """

    rows: SplitRows
    norm2: float


def make_target(values: FloatArray, embedding: Embedding, measure: Measure) -> Target:
    """Factor a target.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Real target, or class codes for a delta kernel.
    embedding : Embedding
        Kernel and tolerance. The factor is made tighter, since its error enters
        the relevance of every feature.
    measure : Measure
        Dependence measure.
    """
    tighter = replace(embedding, tol=max(0.2 * embedding.tol, 1e-12), method="auto")
    (factor,) = factor_columns(values[None].copy(), tighter, measure.shrinkage(values.size))
    factor = measure.finish(factor)
    return Target(split_rows(factor, 0.1 * embedding.tol), factor.norm**2)
