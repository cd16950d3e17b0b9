"""Non-linear feature selection with a certificate: exact HSIC Lasso and NOCCO Lasso.

>>> from hsiclasso import HSICLasso, make_data1
>>> X, y, causal = make_data1(300, 50, random_state=0)
>>> HSICLasso(4).fit(X, y).result_.status
'N_FEATURES'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hsiclasso.data import (
        Phenotype,
        TextFormat,
        as_source,
        make_copies,
        make_data1,
        make_data2,
        open_anndata,
        read_table,
    )
    from hsiclasso.errors import (
        ChunkFailedError,
        ConstantFeatureWarning,
        FewerFeaturesWarning,
        FewObservedWarning,
        InvalidInputError,
        KnockoffWarning,
        MissingExtraError,
        RechunkWarning,
        SuspectColumnWarning,
    )
    from hsiclasso.inference import (
        ControlledSelection,
        HSICPairScan,
        HSICScan,
        HSICTest,
        KnockoffResult,
        KnockoffSelection,
        PostSelectionResult,
        SelectByTest,
        StabilityResult,
        StabilitySelection,
        hsic_scan,
        hsic_scan_pairs,
        hsic_test,
        post_selection_test,
    )
    from hsiclasso.kernels import (
        HSIC,
        NHSIC,
        NOCCO,
        Cauchy,
        Delta,
        Gaussian,
        Laplace,
        Linear,
        Matern,
        Polynomial,
    )
    from hsiclasso.selectors import (
        AlphaRatio,
        Covariates,
        ElasticNet,
        EmbeddingLasso,
        FeatureFunction,
        GroupLasso,
        HSICLasso,
        Ignore,
        Interactions,
        Lasso,
        NOCCOLasso,
        PairFunction,
        Resources,
        SelectedKernel,
        SelectionResult,
        select_genes,
    )
    from hsiclasso.selectors.cv import HSICLassoCV
    from hsiclasso.selectors.plan import Plan, plan
    from hsiclasso.targets import (
        Affinity,
        Auto,
        Classes,
        Counts,
        Diffusion,
        Graph,
        Labels,
        Objects,
        Ordinal,
        Real,
        RegularisedLaplacian,
        Survival,
    )

__version__ = "0.1.0"

__all__ = [
    "HSIC",
    "NHSIC",
    "NOCCO",
    "Affinity",
    "AlphaRatio",
    "Auto",
    "Cauchy",
    "ChunkFailedError",
    "Classes",
    "ConstantFeatureWarning",
    "ControlledSelection",
    "Counts",
    "Covariates",
    "Delta",
    "Diffusion",
    "ElasticNet",
    "EmbeddingLasso",
    "FeatureFunction",
    "FewObservedWarning",
    "FewerFeaturesWarning",
    "Gaussian",
    "Graph",
    "GroupLasso",
    "HSICLasso",
    "HSICLassoCV",
    "HSICPairScan",
    "HSICScan",
    "HSICTest",
    "Ignore",
    "Interactions",
    "InvalidInputError",
    "KnockoffResult",
    "KnockoffSelection",
    "KnockoffWarning",
    "Labels",
    "Laplace",
    "Lasso",
    "Linear",
    "Matern",
    "MissingExtraError",
    "NOCCOLasso",
    "Objects",
    "Ordinal",
    "PairFunction",
    "Phenotype",
    "Plan",
    "Polynomial",
    "PostSelectionResult",
    "Real",
    "RechunkWarning",
    "RegularisedLaplacian",
    "Resources",
    "SelectByTest",
    "SelectedKernel",
    "SelectionResult",
    "StabilityResult",
    "StabilitySelection",
    "Survival",
    "SuspectColumnWarning",
    "TextFormat",
    "__version__",
    "as_source",
    "hsic_scan",
    "hsic_scan_pairs",
    "hsic_test",
    "make_copies",
    "make_data1",
    "make_data2",
    "open_anndata",
    "plan",
    "post_selection_test",
    "read_table",
    "select_genes",
    "with_frequencies",
]

#: Where public names live, each module after those that it loads itself. A name is loaded on
#: first use, so that the command line can answer `--help` without loading scikit-learn.
_HOMES = (
    "errors", "data", "kernels", "targets", "selectors", "selectors.cv", "selectors.plan",
    "inference",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = importlib.import_module(f"hsiclasso.{home}")
        if name in module.__all__:
            return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
