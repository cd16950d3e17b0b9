"""Station 3: factors -> relevance b, diagonal and blocks of the redundancy G on demand."""

from hsiclasso.dependence.measures import Measure, make_measure
from hsiclasso.dependence.problem import DependenceProblem
from hsiclasso.dependence.scan import Progress, Scan, scan_relevance
from hsiclasso.dependence.target import Target, make_target

__all__ = [
    "DependenceProblem",
    "Measure",
    "Progress",
    "Scan",
    "Target",
    "make_measure",
    "make_target",
    "scan_relevance",
]
