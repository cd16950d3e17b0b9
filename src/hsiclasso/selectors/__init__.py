"""Station 5: the estimators users call, and the result they get."""

from hsiclasso.selectors.estimators import HSICLasso, NOCCOLasso
from hsiclasso.selectors.pipeline import Selection, Settings, select
from hsiclasso.selectors.result import Neighbour, SelectedFeature, SelectionResult
from hsiclasso.selectors.targets import TargetOptions

__all__ = [
    "HSICLasso",
    "NOCCOLasso",
    "Neighbour",
    "SelectedFeature",
    "Selection",
    "SelectionResult",
    "Settings",
    "TargetOptions",
    "select",
]
