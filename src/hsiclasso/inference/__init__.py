"""Station 7: how sure? Selections with a bound on false discoveries."""

from hsiclasso.inference.gaussian_knockoffs import KnockoffModel
from hsiclasso.inference.knockoff_result import KnockoffResult
from hsiclasso.inference.knockoffs import KnockoffSelection

__all__ = ["KnockoffModel", "KnockoffResult", "KnockoffSelection"]
