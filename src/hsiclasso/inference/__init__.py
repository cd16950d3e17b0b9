"""Station 7: how sure a finding is, and how many there are."""

from hsiclasso.inference.controlled import ControlledSelection
from hsiclasso.inference.multiple import adjust
from hsiclasso.inference.permutation import Spectrum, permutation_moments, permutation_p_value

__all__ = [
    "ControlledSelection",
    "Spectrum",
    "adjust",
    "permutation_moments",
    "permutation_p_value",
]
