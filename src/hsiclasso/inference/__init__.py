"""Station 7: how sure? Selections with a bound on false discoveries."""

from hsiclasso.inference.gaussian_knockoffs import KnockoffModel
from hsiclasso.inference.knockoff_result import KnockoffResult
from hsiclasso.inference.knockoffs import KnockoffSelection
from hsiclasso.inference.post_selection import (
    PostSelectionResult,
    TestedFeature,
    post_selection_test,
)

__all__ = [
    "KnockoffModel",
    "KnockoffResult",
    "KnockoffSelection",
    "PostSelectionResult",
    "TestedFeature",
    "post_selection_test",
]
