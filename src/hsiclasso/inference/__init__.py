"""Station 7: how sure, how many."""

from hsiclasso.inference.stability import StabilitySelection
from hsiclasso.inference.stability_result import StabilityResult, with_frequencies

__all__ = ["StabilityResult", "StabilitySelection", "with_frequencies"]
