"""Real targets: numbers that a Gaussian kernel compares."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from hsiclasso._checks import check_choice
from hsiclasso._types import FloatArray
from hsiclasso.targets.base import Array, MissingTarget
from hsiclasso.targets.values import Outputs, ValueTarget, ranks_of

__all__ = ["Real"]


class Real(ValueTarget):
    """A real target, of one output or several.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        ``"auto"`` is the Gaussian kernel of width 1.
    transform : {None, "rank"}, default=None
        ``"rank"`` replaces the values by their ranks, which tames heavy tails.
    outputs : {"auto", "joint", "average"}, default="auto"
        ``"joint"`` takes one kernel on several outputs together, ``"average"`` one for each and
        their mean; ``"auto"`` is ``"joint"``.
    missing : {"error", "drop"}, default="error"
        Whether samples without a target are refused or dropped.

    Examples
    --------
    >>> Real(transform="rank").prepare([1.0, 500.0, 7.0], 3).data.values
    array([[1., 3., 2.]])
    """

    name: ClassVar[str] = "real"
    words: ClassVar[str] = "a real target"

    def __init__(
        self,
        kernel: Any = "auto",
        transform: Literal["rank"] | None = None,
        outputs: Outputs = "auto",
        missing: MissingTarget = "error",
    ) -> None:
        super().__init__(kernel, outputs, missing)
        self.transform = transform

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("transform", self.transform, (None, "rank"))
        return super().check()

    def scores(self, column: Array) -> FloatArray:
        """Return the values, or their ranks."""
        numbers = self.numbers(column)
        return numbers if self.transform is None else ranks_of(numbers)
