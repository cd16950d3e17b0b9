"""Targets of classes."""

from __future__ import annotations

from typing import ClassVar

from hsiclasso._types import FloatArray
from hsiclasso.targets.base import Array
from hsiclasso.targets.values import ValueTarget, codes_of

__all__ = ["Classes"]


class Classes(ValueTarget):
    """A target of classes: text, booleans or numbers.

    Parameters
    ----------
    kernel, outputs, missing
        As in `Real`, but ``kernel="auto"`` is the delta kernel of the paper, which divides by the
        size of a class, and ``outputs="auto"`` is ``"average"``.

    Examples
    --------
    >>> Classes().prepare(["oak", "elm", "oak"], 3).data.values
    array([[1., 0., 1.]])
    """

    name: ClassVar[str] = "classes"
    words: ClassVar[str] = "a target of classes"
    by_class: ClassVar[bool] = True

    def scores(self, column: Array) -> FloatArray:
        """Return the number of each class."""
        return codes_of(column)
