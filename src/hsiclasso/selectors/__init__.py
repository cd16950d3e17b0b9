"""Station 6: the estimators that users call, and their results."""

from hsiclasso.selectors.covariates import Covariates
from hsiclasso.selectors.embedding_lasso import EmbeddingLasso
from hsiclasso.selectors.estimators import HSICLasso, NOCCOLasso
from hsiclasso.selectors.genes import select_genes
from hsiclasso.selectors.interactions import Interactions
from hsiclasso.selectors.kernel import SelectedKernel
from hsiclasso.selectors.missing import Ignore
from hsiclasso.selectors.penalties import ElasticNet, GroupLasso, Lasso
from hsiclasso.selectors.resources import Resources
from hsiclasso.selectors.result import (
    Cluster,
    FeatureFunction,
    Member,
    PairFunction,
    SelectedFeature,
    SelectionResult,
)
from hsiclasso.selectors.search import AlphaRatio

__all__ = [
    "AlphaRatio",
    "Cluster",
    "Covariates",
    "ElasticNet",
    "EmbeddingLasso",
    "FeatureFunction",
    "GroupLasso",
    "HSICLasso",
    "Ignore",
    "Interactions",
    "Lasso",
    "Member",
    "NOCCOLasso",
    "PairFunction",
    "Resources",
    "SelectedFeature",
    "SelectedKernel",
    "SelectionResult",
    "select_genes",
]
