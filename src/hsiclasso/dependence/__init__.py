"""Station 4: blocks of features x target -> relevance b; redundancy G on demand."""

from hsiclasso.dependence.features import Features, Scaled
from hsiclasso.dependence.relate import Problem, Progress, relate
from hsiclasso.dependence.running import Runner, Threads

__all__ = ["Features", "Problem", "Progress", "Runner", "Scaled", "Threads", "relate"]
