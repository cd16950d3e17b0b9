"""Station 3: factors -> relevance b, diagonal and blocks of the redundancy G on demand."""

from hsiclasso.dependence.graphs import Diffusion, RegularisedLaplacian, check_adjacency
from hsiclasso.dependence.measures import Measure, make_measure
from hsiclasso.dependence.pairwise import check_affinity
from hsiclasso.dependence.problem import DependenceProblem
from hsiclasso.dependence.scan import Progress, Scan, scan_relevance
from hsiclasso.dependence.target import (
    Affinity,
    Censored,
    Graph,
    Pairwise,
    Target,
    TargetData,
    Values,
    make_target,
    subtract,
)

__all__ = [
    "Affinity",
    "Censored",
    "DependenceProblem",
    "Diffusion",
    "Graph",
    "Measure",
    "Pairwise",
    "Progress",
    "RegularisedLaplacian",
    "Scan",
    "Target",
    "TargetData",
    "Values",
    "check_adjacency",
    "check_affinity",
    "make_measure",
    "make_target",
    "scan_relevance",
    "subtract",
]
