"""Non-linear feature selection with a certificate: exact HSIC Lasso and NOCCO Lasso.

>>> from hsiclasso import HSICLasso, make_data1
>>> X, y, causal = make_data1(300, 50, random_state=0)
>>> HSICLasso(4).fit(X, y).result_.status
'N_FEATURES'
"""

from hsiclasso.data import as_source, make_data1, make_data2
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    MissingExtraError,
)
from hsiclasso.selectors import HSICLasso, NOCCOLasso, SelectionResult

__version__ = "0.1.0"

__all__ = [
    "ConstantFeatureWarning",
    "FewerFeaturesWarning",
    "HSICLasso",
    "InvalidInputError",
    "MissingExtraError",
    "NOCCOLasso",
    "SelectionResult",
    "__version__",
    "as_source",
    "make_data1",
    "make_data2",
]
