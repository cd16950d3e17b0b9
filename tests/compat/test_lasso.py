"""The interface, call by call."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from hsiclasso import InvalidInputError, compat
from hsiclasso.compat import BlocksWarning, CallOrderError, HSICLasso, NoSuchFeatureError
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning
from tests import oracles
from tests.compat import dense

AFTER_INPUT = ["regression", "classification", "save_HSICmatrix"]
AFTER_FIT = [
    "dump", "get_features", "get_features_neighbors", "get_index", "get_index_neighbors",
    "get_index_neighbors_score", "get_index_score", "linkage", "plot_path", "save_param",
    "save_score",
]  # fmt: skip
AFTER_LINKAGE = ["plot_dendrogram", "plot_heatmap"]
FOUND = ["A", "A_neighbors", "A_neighbors_score", "beta", "lam", "path"]
TREE = ["hclust_featname", "hclust_featnameindex", "linkage_dist"]


@pytest.mark.parametrize("name", AFTER_INPUT + AFTER_FIT + AFTER_LINKAGE)
def test_methods_need_data(name):
    with pytest.raises(CallOrderError, match=rf"^{name} needs data: call input\("):
        getattr(HSICLasso(), name)()


@pytest.mark.parametrize("name", AFTER_FIT + AFTER_LINKAGE)
def test_methods_need_a_fit(name, table):
    model = HSICLasso()
    model.input(*table)
    with pytest.raises(CallOrderError, match=f"^{name} needs selected features: call regression"):
        getattr(model, name)()


@pytest.mark.parametrize("name", AFTER_LINKAGE)
def test_figures_of_the_tree_need_one(name, fitted):
    with pytest.raises(CallOrderError, match=f"^{name} needs a tree of features: call linkage"):
        getattr(fitted, name)()


def test_nothing_is_known_before():
    model = HSICLasso()
    assert [getattr(model, name) for name in ["X_in", "Y_in", "featname", *FOUND, *TREE]] == [
        None
    ] * 12
    assert model.max_neighbors == 10


@pytest.mark.parametrize("again", ["input", "regression", "failing input", "failing fit"])
def test_nothing_sticks(again, fitted, table):
    fitted.linkage()
    X, y = table
    if again == "input":
        fitted.input(X[:, :5], y)
        assert fitted.X_in.shape == (5, 60)
    elif again == "regression":
        before = fitted.beta
        fitted.regression(4, B=0)
        np.testing.assert_array_equal(fitted.beta, before)
    else:
        with pytest.raises(InvalidInputError):
            fitted.input(X) if again == "failing input" else fitted.regression(0)
    gone = TREE if again == "regression" else FOUND + TREE
    assert all(getattr(fitted, name) is None for name in gone)
    assert fitted.max_neighbors == 10
    assert (fitted.X_in is None) == (again == "failing input")


def test_what_is_returned_can_be_changed(fitted):
    """A caller that writes to a result does not change the model."""
    fitted.linkage()
    for name in ["X_in", "Y_in", "featname", *FOUND, *TREE]:
        value, before = getattr(fitted, name), repr(getattr(fitted, name))
        value[0] = value[-1] * 2
        assert repr(getattr(fitted, name)) == before
    fitted.get_index().clear()
    fitted.get_index_neighbors_score()[:] = 0
    assert len(fitted.get_index()) == 4
    assert fitted.get_index_neighbors_score().all()


def test_selected_features(fitted):
    assert fitted.get_index() == fitted.A
    assert fitted.get_features() == [f"gene{k}" for k in fitted.A]
    assert fitted.featname[:2] == ["gene0", "gene1"]
    assert fitted.max_neighbors == 6


def test_neighbours_are_as_many_as_asked_for_and_kept(fitted):
    assert len(fitted.get_index_neighbors()) == 5
    assert len(fitted.get_index_neighbors(1, 50)) == 6
    assert fitted.get_index_neighbors(-1) == fitted.get_index_neighbors(3)
    names = [f"gene{k}" for k in fitted.get_index_neighbors(2, 3)]
    assert fitted.get_features_neighbors(feat_index=2, num_neighbors=3) == names
    assert fitted.get_index_neighbors_score(2, 3).shape == (3,)
    with pytest.raises(NoSuchFeatureError, match=r"feat_index=4, but 4 features were selected"):
        fitted.get_index_neighbors(4)
    with pytest.raises(InvalidInputError, match="num_neighbors=-1 must be a whole number >= 0"):
        fitted.get_features_neighbors(0, -1)


def test_blocks_are_accepted_and_not_made(table):
    exact, blocks = HSICLasso(), HSICLasso()
    exact.input(*table)
    exact.regression(3, B=0)
    blocks.input(*table)
    with pytest.warns(BlocksWarning, match="B=20: no blocks are made") as caught:
        blocks.regression(3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(exact.beta, blocks.beta)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blocks.regression(3, B=60, M=1)  # one block is the exact fit


def test_fewer_samples_than_a_block(table):
    X, y = table
    model = HSICLasso()
    model.input(X[:12], y[:12])
    model.regression(2)
    assert len(model.A) == 2


def test_fewer_features_than_asked_for(table):
    X, y = table
    model = HSICLasso()
    model.input(X[:, :3], y)
    with pytest.warns(FewerFeaturesWarning, match=r"num_feat=5, but only \d of 3 features") as seen:
        model.regression(B=0)
    assert seen[0].filename == __file__
    assert 1 <= len(model.A) <= 3
    assert len(model.get_index_neighbors()) == 2


def test_columns_that_do_not_vary_are_never_selected(table):
    X, y = table
    model = HSICLasso()
    model.input(np.column_stack([X, np.ones(60)]), y)
    with pytest.warns(ConstantFeatureWarning, match="1 of 16 columns do not vary.*: 16"):
        model.regression(3, B=0)
    assert 15 not in model.A


@pytest.mark.parametrize("name", ["X", "y"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(name, value, table):
    X, y = (values.copy() for values in table)
    {"X": X[:, 0], "y": y}[name][5] = value
    model = HSICLasso()
    model.input(X, y)
    where = "row 5 of feature '1'" if name == "X" else "row 5"
    with pytest.raises(InvalidInputError, match=f"{name} has a value that is .* in {where}, and"):
        model.regression(3, B=0)


@pytest.mark.parametrize("method", ["regression", "classification"])
def test_a_target_that_does_not_vary(method, table):
    model = HSICLasso()
    model.input(table[0], np.ones(60))
    with pytest.raises(InvalidInputError):
        getattr(model, method)(3, B=0)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"num_feat": 0}, "num_feat=0 must be a whole number >= 1"),
        ({"B": -1}, "B=-1 must be a whole number >= 0"),
        ({"M": 0}, "M=0 must be a whole number >= 1"),
        ({"discrete_x": 1}, "discrete_x=1 must be True or False"),
        ({"max_neighbors": -2}, "max_neighbors=-2 must be a whole number >= 0"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number of threads"),
        ({"covars_kernel": "Gauss"}, "covars_kernel='Gauss' is unknown: choose 'Gaussian' or"),
        ({"covars": np.ones((5, 1))}, "covariates has 5 rows and X has 60 samples"),
        ({"covars": np.array(["a", "b"] * 30)}, "covars has labels, which covars_kernel='Gauss"),
    ],
)
def test_bad_arguments(option, words, table):
    model = HSICLasso()
    model.input(*table)
    with pytest.raises(InvalidInputError, match=words):
        model.regression(**{"B": 0, **option})


def test_empty_covariates_are_none(table):
    plain, empty = HSICLasso(), HSICLasso()
    for model, covars in ((plain, None), (empty, np.array([]))):
        model.input(*table)
        model.regression(3, B=0, covars=covars)
    np.testing.assert_array_equal(plain.beta, empty.beta)


def test_two_samples_tell_nothing():
    model = HSICLasso()
    assert model.input([[1, 1, 1], [2, 2, 2]], [0, 1])
    with pytest.raises(InvalidInputError, match="n_samples=2, but dependence can only be measured"):
        model.classification(10)


def test_only_dump_prints_and_nothing_is_seeded(table, capsys):
    np.random.seed(0)  # noqa: NPY002  # the state that must not change
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    model = HSICLasso()
    model.input(*table)
    model.regression(3, B=0)
    model.linkage()
    assert capsys.readouterr() == ("", "")
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    model.dump()
    assert "HSICLasso : Result" in capsys.readouterr().out


def test_the_input_is_not_changed(table):
    X, y = table
    copies = X.copy(), y.copy()
    model = HSICLasso()
    model.input(X, y)
    model.regression(3, B=0, covars=X[:, :2])
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


def test_linkage(fitted):
    assert fitted.linkage() is True
    leaves = fitted.hclust_featnameindex
    assert set(leaves) == {k for near in fitted.A_neighbors for k in near}
    assert fitted.hclust_featname == [f"gene{k}" for k in leaves]
    assert fitted.linkage_dist.shape == (len(leaves) - 1, 4)
    fitted.linkage(method="single")
    nearest = max(near[1] for near in fitted.A_neighbors_score)
    assert fitted.linkage_dist[0, 2] <= 1 - nearest + 1e-9
    with pytest.raises(InvalidInputError, match="method='wards' is unknown"):
        fitted.linkage("wards")


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_linkage_of_a_copy(duplicate, discrete, table):
    """The tree is that of the similarities, also of a model that was stored."""
    X, y = np.round(table[0]), table[1]
    model = HSICLasso()
    model.input(X, y)
    model.regression(3, B=0, discrete_x=discrete, max_neighbors=2)
    again = duplicate(model)
    again.linkage()
    assert again.get_index() == model.get_index()
    leaves = again.hclust_featnameindex
    similarity = oracles.similarity(dense.feature_matrices(X, discrete)[leaves])
    tree = linkage(squareform(1 - similarity, checks=False), "ward")
    np.testing.assert_allclose(again.linkage_dist, tree, atol=1e-5)


def test_linkage_of_one_feature(table):
    model = HSICLasso()
    model.input(*table)
    model.regression(1, B=0, max_neighbors=0)
    assert model.get_index_neighbors() == []
    with pytest.raises(InvalidInputError, match="linkage needs two features or more"):
        model.linkage()


def test_errors_are_documented_where_they_are_raised():
    assert all(name in compat.errors.__doc__ for name in compat.errors.__all__)


def test_calls_that_the_tests_of_pyhsiclasso_make(table):
    """They call methods of the class that are not public."""
    X, y = table
    model = HSICLasso()
    assert model._check_args(["hoge.csv"])
    with pytest.raises(TypeError):
        model._check_args([1, 2, 3])
    with pytest.raises(ValueError, match="too short"):
        model._check_args(["txt"])
    model._input_data_list([[1, 1, 1], [2, 2, 2]], [1, 2])
    assert (model.X_in.shape, model.Y_in.shape) == ((3, 2), (1, 2))
    assert model._check_shape()
    model._input_data_ndarray(X[:50], y)
    with pytest.raises(ValueError, match=r"X has 50 samples .* and y has 60 values"):
        model._check_shape()
    with pytest.raises(ValueError, match="y has shape"):
        model._input_data_list(X, np.ones((2, 4)))
