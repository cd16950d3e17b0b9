"""What the package shows, and what importing it costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

import hsiclasso
from hsiclasso._options import Option
from hsiclasso.errors import MissingExtraError, require

#: Public names by what they are.
ESTIMATORS = {
    "ControlledSelection", "EmbeddingLasso", "HSICLasso", "HSICLassoCV", "KnockoffSelection",
    "NOCCOLasso", "SelectByTest", "StabilitySelection",
}  # fmt: skip
OPTIONS = {
    "Affinity", "AlphaRatio", "Auto", "Cauchy", "Classes", "Counts", "Covariates", "Delta",
    "Diffusion", "ElasticNet", "Gaussian", "Graph", "GroupLasso", "HSIC", "Ignore",
    "Interactions", "Labels",
    "Laplace", "Lasso", "Linear", "Matern", "NHSIC", "NOCCO", "Objects", "Ordinal",
    "Polynomial", "Real", "RegularisedLaplacian", "Resources", "Survival",
}  # fmt: skip
RESULTS = {
    "FeatureFunction", "HSICPairScan", "HSICScan", "HSICTest", "KnockoffResult", "PairFunction",
    "Plan",
    "PostSelectionResult", "SelectedKernel", "SelectionResult", "StabilityResult",
}  # fmt: skip
DATA = {
    "Phenotype", "TextFormat", "as_source", "make_copies", "make_data1", "make_data2",
    "open_anndata", "read_table",
}  # fmt: skip
FUNCTIONS = {
    "hsic_scan", "hsic_scan_pairs", "hsic_test", "plan", "post_selection_test", "select_genes",
    "with_frequencies",
}  # fmt: skip
ERRORS = {
    "ChunkFailedError", "ConstantFeatureWarning", "FewObservedWarning", "FewerFeaturesWarning",
    "InvalidInputError", "KnockoffWarning", "MissingExtraError", "RechunkWarning",
    "SuspectColumnWarning",
}  # fmt: skip
PUBLIC = ESTIMATORS | OPTIONS | RESULTS | DATA | FUNCTIONS | ERRORS
#: Heavy packages that a plain import must not load.
LAZY = {
    "numba", "pandas", "polars", "matplotlib", "click", "rich", "pyarrow", "dask", "distributed",
    "h5py", "zarr", "anndata", "bed_reader",
}  # fmt: skip


def test_public_names():
    assert set(hsiclasso.__all__) == PUBLIC | {"__version__"}
    assert set(dir(hsiclasso)) == set(hsiclasso.__all__)
    with pytest.raises(AttributeError, match="module 'hsiclasso' has no attribute 'Ridge'"):
        _ = hsiclasso.Ridge


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_documented(name):
    assert len(getattr(hsiclasso, name).__doc__) > 40


@pytest.mark.parametrize("name", sorted(ESTIMATORS | OPTIONS))
def test_parameters_are_documented_with_their_defaults(name):
    public = getattr(hsiclasso, name)
    assert name in ESTIMATORS or issubclass(public, Option)
    told = {}  # the line of each parameter: "a, b : float, default=1", or "a, b" for "as in ..."
    for line in inspect.getdoc(public).split("\nAttributes\n---")[0].splitlines():
        told |= dict.fromkeys(line.split(" : ")[0].split(", "), line)
    for parameter, about in inspect.signature(public).parameters.items():
        line = told[parameter]
        if about.default is not inspect.Parameter.empty and " : " in line:
            assert ast.literal_eval(line.split("default=")[1]) == about.default, line


def loaded_after(*statements):
    """Return the modules that are loaded after each of some statements."""
    code = "import sys\n" + "\nprint(*sys.modules)\n".join([*statements, ""])
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [set(line.split()) for line in out.stdout.splitlines()]


def test_import_is_light():
    """Names are loaded on first use, so that the command line answers `--help` at once."""
    # scikit-learn itself may load pandas where it is installed: only what comes after it counts
    plain, base, whole = loaded_after(
        "import hsiclasso",
        "import sklearn.feature_selection, joblib, threadpoolctl",
        "from hsiclasso import HSICLasso\n"
        "import hsiclasso.evaluation, hsiclasso.baselines.registry, hsiclasso.compat",
    )
    assert not plain & {*LAZY, "sklearn", "scipy", "hsiclasso.compat"}
    assert not (whole - base) & LAZY


def test_require_names_the_extra():
    with pytest.raises(MissingExtraError, match=r"pip install 'hsiclasso\[plots\]'"):
        require("no_such_module_anywhere", "plots")
