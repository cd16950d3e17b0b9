"""Station 5: the estimators users call, and the result they get."""

from hsiclasso.selectors.covariates import CovariateOptions
from hsiclasso.selectors.estimators import HSICLasso, NOCCOLasso
from hsiclasso.selectors.features import FeatureOptions
from hsiclasso.selectors.kernel import SelectedKernel
from hsiclasso.selectors.penalties import PenaltyOptions
from hsiclasso.selectors.pipeline import Selection, Settings, select
from hsiclasso.selectors.result import Neighbour, SelectedFeature, SelectedGroup, SelectionResult
from hsiclasso.selectors.search import StopOptions
from hsiclasso.selectors.targets import TargetOptions

__all__ = [
    "CovariateOptions",
    "FeatureOptions",
    "HSICLasso",
    "NOCCOLasso",
    "Neighbour",
    "PenaltyOptions",
    "SelectedFeature",
    "SelectedGroup",
    "SelectedKernel",
    "Selection",
    "SelectionResult",
    "Settings",
    "StopOptions",
    "TargetOptions",
    "select",
]
