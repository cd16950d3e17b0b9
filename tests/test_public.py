"""What the package shows, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hsiclasso
from hsiclasso.errors import MissingExtraError, require

PUBLIC = {
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
}
#: Heavy packages that a plain import must not load.
LAZY = ("numba", "pandas", "polars", "matplotlib", "click", "rich", "pyarrow", "dask")


def test_public_names():
    assert set(hsiclasso.__all__) == PUBLIC
    assert all(hasattr(hsiclasso, name) for name in PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC - {"__version__"}))
def test_public_names_are_documented(name):
    assert len(getattr(hsiclasso, name).__doc__) > 40


def loaded_after(statement):
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_import_is_light():
    # scikit-learn itself may load pandas where it is installed: compare with it alone
    base = loaded_after("import sklearn.feature_selection, joblib, threadpoolctl")
    extra = loaded_after("from hsiclasso import HSICLasso") - base
    assert not extra & set(LAZY)


def test_require_names_the_extra():
    with pytest.raises(MissingExtraError, match=r"pip install 'hsiclasso\[plots\]'"):
        require("no_such_module_anywhere", "plots")
