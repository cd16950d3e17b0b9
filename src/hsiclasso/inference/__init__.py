"""Station 7: how sure a finding is, and how many there are."""

from hsiclasso.inference.bounds import StabilityLevels
from hsiclasso.inference.controlled import ControlledSelection
from hsiclasso.inference.gaussian_knockoffs import KnockoffModel
from hsiclasso.inference.knockoff_result import KnockoffResult
from hsiclasso.inference.knockoffs import KnockoffSelection
from hsiclasso.inference.multiple import adjust
from hsiclasso.inference.pair_result import FoundPairs, HSICPairScan
from hsiclasso.inference.pair_tests import hsic_scan_pairs
from hsiclasso.inference.permutation import permutation_p_value
from hsiclasso.inference.post_selection import post_selection_test
from hsiclasso.inference.post_selection_result import FeatureTest, PostSelectionResult
from hsiclasso.inference.results import FoundFeatures, HSICScan, HSICTest, TestedFeature
from hsiclasso.inference.scan import hsic_scan, hsic_test
from hsiclasso.inference.selector import SelectByTest
from hsiclasso.inference.spectrum import Spectrum, permutation_moments, permutation_skewness
from hsiclasso.inference.stability import StabilitySelection
from hsiclasso.inference.stability_result import (
    StabilityResult,
    StableCluster,
    StableFeature,
    with_frequencies,
)

__all__ = [
    "ControlledSelection",
    "FeatureTest",
    "FoundFeatures",
    "FoundPairs",
    "HSICPairScan",
    "HSICScan",
    "HSICTest",
    "KnockoffModel",
    "KnockoffResult",
    "KnockoffSelection",
    "PostSelectionResult",
    "SelectByTest",
    "Spectrum",
    "StabilityLevels",
    "StabilityResult",
    "StabilitySelection",
    "StableCluster",
    "StableFeature",
    "TestedFeature",
    "adjust",
    "hsic_scan",
    "hsic_scan_pairs",
    "hsic_test",
    "permutation_moments",
    "permutation_p_value",
    "permutation_skewness",
    "post_selection_test",
    "with_frequencies",
]
