"""Station 9: the interfaces of other packages, for programs that move over from them.

`HSICLasso` takes the calls of pyHSICLasso, `mrmr_classif` and `mrmr_regression` those of
mrmr_selection. ``docs/moving.md`` lists each old call beside the new one.

>>> import numpy as np
>>> from hsiclasso import make_data1
>>> from hsiclasso.compat import HSICLasso
>>> X, y, causal = make_data1(200, 20, random_state=0)
>>> model = HSICLasso()
>>> model.input(X, y)
True
>>> model.regression(4, B=0)
True
>>> set(model.get_index()) == set(causal)
True
"""

from hsiclasso.compat.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    BlocksWarning,
    CallOrderError,
    NoSuchFeatureError,
)
from hsiclasso.compat.lasso import HSICLasso
from hsiclasso.compat.mrmr import mrmr_classif, mrmr_regression
from hsiclasso.compat.tables import input_csv_file, input_matlab_file, input_tsv_file

__all__ = [
    "ArgumentCountError",
    "ArgumentTypeError",
    "BlocksWarning",
    "CallOrderError",
    "HSICLasso",
    "NoSuchFeatureError",
    "input_csv_file",
    "input_matlab_file",
    "input_tsv_file",
    "mrmr_classif",
    "mrmr_regression",
]


def __dir__() -> list[str]:
    return __all__
