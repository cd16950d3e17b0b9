"""The methods of the paper's comparison, behind the interface of the package's own selectors.

>>> from hsiclasso import make_data1
>>> from hsiclasso.baselines import BASELINES
>>> X, y, causal = make_data1(300, 20, random_state=0)
>>> BASELINES["hsic_ranking"](3).fit(X, y).transform(X).shape
(300, 3)
"""

from hsiclasso.baselines.alignment import CKTA, KTA
from hsiclasso.baselines.comparison import Comparison, compare
from hsiclasso.baselines.forward import ForwardSelection
from hsiclasso.baselines.fvm import FVM
from hsiclasso.baselines.greedy import GreedyHSIC
from hsiclasso.baselines.hsfs import HSFS
from hsiclasso.baselines.instance import InstanceWiseLasso
from hsiclasso.baselines.job import Traits
from hsiclasso.baselines.lasso import LassoPath
from hsiclasso.baselines.mrmr import MRMR
from hsiclasso.baselines.qpfs import QPFS
from hsiclasso.baselines.rankings import HSICRanking, MIRanking
from hsiclasso.baselines.registry import BASELINES, METHODS, traits_of
from hsiclasso.baselines.result import RankingResult
from hsiclasso.baselines.spam import SpAM

__all__ = [
    "BASELINES",
    "CKTA",
    "FVM",
    "HSFS",
    "KTA",
    "METHODS",
    "MRMR",
    "QPFS",
    "Comparison",
    "ForwardSelection",
    "GreedyHSIC",
    "HSICRanking",
    "InstanceWiseLasso",
    "LassoPath",
    "MIRanking",
    "RankingResult",
    "SpAM",
    "Traits",
    "compare",
    "traits_of",
]


def __dir__() -> list[str]:
    return __all__
