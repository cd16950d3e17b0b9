"""Real targets: numbers that a Gaussian kernel compares."""

from __future__ import annotations

from typing import Any, ClassVar, Self, get_args

from hsiclasso._checks import check_choice
from hsiclasso._types import FloatArray
from hsiclasso.targets.base import Array, MissingTarget
from hsiclasso.targets.values import Outputs, Transform, ValueTarget, transformed

__all__ = ["Real"]


class Real(ValueTarget):
    """A real target, of one output or several.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        ``"auto"`` is the Gaussian kernel of width 1.
    transform : {"auto", None, "rank", "normal"}, default="auto"
        ``"rank"`` replaces the values by their ranks, which tames heavy tails; ``"normal"`` by
        their normal scores, the normal quantiles of their ranks. ``"auto"`` leaves it to the
        selector: `HSICLasso` takes normal scores if the tails are heavy (excess kurtosis above 3),
        else the values, `NOCCOLasso` ranks, and `EmbeddingLasso` normal scores. None is the
        paper's.
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
        transform: Transform | None = "auto",
        outputs: Outputs = "auto",
        missing: MissingTarget = "error",
    ) -> None:
        super().__init__(kernel, outputs, missing)
        self.transform = transform

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("transform", self.transform, (None, *get_args(Transform)))
        return super().check()

    def scores(self, column: Array) -> FloatArray:
        """Return the values, their ranks or their normal scores."""
        return transformed(self.numbers(column), self.transform)
