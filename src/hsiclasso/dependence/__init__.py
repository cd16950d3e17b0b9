"""Station 4: blocks of features x target -> relevance b; redundancy G on demand."""

from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.features import Features, Scaled
from hsiclasso.dependence.relate import Problem, Progress, first_pass, relate
from hsiclasso.dependence.running import Runner, Threads

__all__ = [
    "Budget",
    "Features",
    "Problem",
    "Progress",
    "Runner",
    "Scaled",
    "Threads",
    "first_pass",
    "relate",
]
