"""Station 7: how sure? Selections with a bound on false discoveries, and p-values."""

from hsiclasso.inference.gaussian_knockoffs import KnockoffModel
from hsiclasso.inference.knockoff_result import KnockoffResult
from hsiclasso.inference.knockoffs import KnockoffSelection
from hsiclasso.inference.post_selection import post_selection_test
from hsiclasso.inference.post_selection_result import FeatureTest, PostSelectionResult

__all__ = [
    "FeatureTest",
    "KnockoffModel",
    "KnockoffResult",
    "KnockoffSelection",
    "PostSelectionResult",
    "post_selection_test",
]
