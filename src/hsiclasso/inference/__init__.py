"""Station 7: how sure a finding is. p-values, and their adjustment for many tests."""

from hsiclasso.inference.multiple import adjust
from hsiclasso.inference.permutation import permutation_p_value
from hsiclasso.inference.spectrum import Spectrum, permutation_moments, permutation_skewness

__all__ = [
    "Spectrum",
    "adjust",
    "permutation_moments",
    "permutation_p_value",
    "permutation_skewness",
]
