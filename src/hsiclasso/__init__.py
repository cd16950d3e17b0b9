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
    from hsiclasso.data import as_source, make_copies, make_data1, make_data2
    from hsiclasso.dependence import Diffusion, RegularisedLaplacian
    from hsiclasso.embedding import Delta, Gaussian, Laplace, Linear, Polynomial
    from hsiclasso.errors import (
        ConstantFeatureWarning,
        FewerFeaturesWarning,
        FewObservedWarning,
        InvalidInputError,
        MissingExtraError,
    )
    from hsiclasso.selectors import HSICLasso, NOCCOLasso, SelectedKernel, SelectionResult
    from hsiclasso.selectors.cv import HSICLassoCV

__version__ = "0.1.0"

__all__ = [
    "ConstantFeatureWarning",
    "Delta",
    "Diffusion",
    "FewObservedWarning",
    "FewerFeaturesWarning",
    "Gaussian",
    "HSICLasso",
    "HSICLassoCV",
    "InvalidInputError",
    "Laplace",
    "Linear",
    "MissingExtraError",
    "NOCCOLasso",
    "Polynomial",
    "RegularisedLaplacian",
    "SelectedKernel",
    "SelectionResult",
    "__version__",
    "as_source",
    "make_copies",
    "make_data1",
    "make_data2",
]

#: Where each public name lives. They are loaded on first use, so that the command line can
#: answer `--help` without loading scikit-learn.
_HOMES = {
    "hsiclasso.data": ("as_source", "make_copies", "make_data1", "make_data2"),
    "hsiclasso.dependence": ("Diffusion", "RegularisedLaplacian"),
    "hsiclasso.embedding": ("Delta", "Gaussian", "Laplace", "Linear", "Polynomial"),
    "hsiclasso.errors": (
        "ConstantFeatureWarning",
        "FewObservedWarning",
        "FewerFeaturesWarning",
        "InvalidInputError",
        "MissingExtraError",
    ),
    "hsiclasso.selectors": ("HSICLasso", "NOCCOLasso", "SelectedKernel", "SelectionResult"),
    "hsiclasso.selectors.cv": ("HSICLassoCV",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
