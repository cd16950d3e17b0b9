"""Against what pyHSICLasso 1.4.2 (B=0) and mrmr_selection 0.2.8 gave, in `recorded.json`.

pyHSICLasso ran on the files of its own tests, which are real data and skipped where absent; it
computes in single precision. mrmr_selection ran on the tables of `mrmr_table`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hsiclasso.compat import HSICLasso, mrmr_classif, mrmr_regression
from hsiclasso.errors import ConstantFeatureWarning
from tests import oracles
from tests.compat import dense

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def files(data_folder):
    folder = data_folder / "formats" / "pyhsiclasso"
    if not folder.is_dir():
        pytest.skip("the files of pyHSICLasso's tests are absent: formats/pyhsiclasso")
    return folder


def fitted(case, files, number=None):
    """Make the call of a recorded case, and return the model."""
    name, method, options = case["call"]
    model = HSICLasso()
    outputs = {"output_list": ["output1", "output2"]} if "_mv" in name else {}
    model.input(str(files / name), **outputs)
    if "covars" in options:
        options = {"covars": model.X_in[options["covars"]].T}
    getattr(model, method)(number or len(case["index"]), B=0, **options)
    return model


# one of the calls of its tests takes real values for classes
@pytest.mark.filterwarnings("ignore:y has 100 classes:hsiclasso.errors.SuspectColumnWarning")
@pytest.mark.parametrize("name", RECORDED["HSICLasso"])
def test_features_and_scores(name, files):
    case = RECORDED["HSICLasso"][name]
    model = fitted(case, files)
    assert model.get_index() == case["index"]
    assert model.get_features() == case["features"]
    score = np.array(case["score"])
    np.testing.assert_allclose(model.get_index_score(), score, atol=1e-4 * score.max())
    for place, values in enumerate(case["neighbour_scores"]):
        np.testing.assert_allclose(model.get_index_neighbors_score(place), values, atol=2e-5)


@pytest.mark.parametrize("discrete", [False, True])
def test_the_explicit_problem_of_a_file(discrete, files):
    call = ["csv_data.csv", "classification", {"discrete_x": discrete}]
    model = fitted({"call": call, "index": []}, files, number=8)
    A = dense.feature_matrices(model.X_in.T, discrete)
    dense.check_path(model, A, dense.normalised(oracles.delta_gram(model.Y_in[0])), 8)


def test_arrays_of_the_files(files):
    """X_in.npy has a row for each feature."""
    X, y = (np.load(files / name) for name in ("X_in.npy", "Y_in.npy"))
    model, read = HSICLasso(), HSICLasso()
    model.input(X.T, y[0])
    read.input(str(files / "matlab_data.mat"))
    np.testing.assert_array_equal(model.X_in, read.X_in)
    np.testing.assert_array_equal(model.Y_in, read.Y_in)
    assert model.featname == read.featname


def mrmr_table(seed):
    """A table of correlated columns, with a real target and classes."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((80, 5))
    X = factors @ rng.standard_normal((5, 25)) + 0.8 * rng.standard_normal((80, 25))
    y = X[:, 0] + np.sin(X[:, 1]) - X[:, 2] + 0.5 * rng.standard_normal(80)
    return X, y, np.digitize(y, np.quantile(y, [0.3, 0.7]))


@pytest.mark.parametrize("seed", range(5))
def test_mrmr(seed):
    X, y, classes = mrmr_table(seed)
    recorded = RECORDED["mrmr"][str(seed)]
    assert [f"g{k}" for k in mrmr_regression(X, y, 8)] == recorded["regression"]
    assert [f"g{k}" for k in mrmr_classif(X, classes, 8)] == recorded["classification"]


def test_mrmr_of_all_columns_with_a_constant_and_a_copy():
    X, y, classes = mrmr_table(0)
    X = np.column_stack([X, np.ones(80), X[:, 0]])
    names = [f"g{k}" for k in range(25)] + ["const", "copy"]
    recorded = RECORDED["mrmr"]["odd"]
    for function, target, kind in (
        (mrmr_regression, y, "regression"),
        (mrmr_classif, classes, "classification"),
    ):
        with pytest.warns(ConstantFeatureWarning):
            selected = function(X, target, 40)
        assert [names[k] for k in selected] == recorded[kind]
