import numpy as np
import pandas as pd
import pytest

from hsiclasso import HSICLasso
from hsiclasso.baselines import MRMR
from hsiclasso.data import as_dataset, as_source
from hsiclasso.data.dataset import assemble
from hsiclasso.data.layout import Roles
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.subset import ColumnSubset
from hsiclasso.errors import InvalidInputError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 12))).rename(columns="g{}".format)
    frame["tumour"] = np.where(frame["g3"] + frame["g7"] ** 2 > 1, "yes", "no")
    return frame


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "genes.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", [str, lambda path: path])
@pytest.mark.parametrize("selector", [HSICLasso(2), MRMR(2)])
def test_path_and_name(frame, file, selector, kind):
    expected = selector.fit(frame.drop(columns="tumour"), frame["tumour"]).get_feature_names_out()
    found = selector.fit(kind(file), "tumour")
    assert found.get_feature_names_out().tolist() == expected.tolist()
    assert found.n_features_in_ == 12
    np.testing.assert_array_equal(found.transform(kind(file)), frame[list(expected)])


def test_path_with_own_target(frame, file):
    y = frame["g1"] ** 2
    found = HSICLasso(1, exclude=["tumour"]).fit(file, y)
    assert found.result_.names == ("g1",)


def test_name_needs_a_place_to_be_looked_up(frame):
    with pytest.raises(InvalidInputError, match="'tumour' is a name, but a DataFrame has no"):
        HSICLasso().fit(frame, "tumour")


def test_list_of_labels_is_no_list_of_names():
    data = as_dataset(np.eye(4), ["a", "b", "a", "b"])
    assert data.y == ["a", "b", "a", "b"]


class Strange:
    def __len__(self):
        return 3

    def __getitem__(self, place):
        raise AssertionError("must not be looked into")


def test_unknown_object_is_refused_by_name():
    with pytest.raises(InvalidInputError, match=r"Strange, which is no table"):
        as_source(Strange())


@pytest.fixture
def annotated():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 8))
    batch = rng.integers(0, 3, 50)
    X[:, 0] += 3 * batch
    source = ArraySource(X, [f"g{j}" for j in range(8)])
    source.annotations = {
        "response": X[:, 2] + 2.0 * batch,
        "batch": np.array(["a", "b", "c"], dtype=object)[batch],
        "w": rng.uniform(1, 2, 50),
    }
    return source


def test_annotations_are_targets_and_covariates(annotated):
    notes = annotated.annotations
    selector = HSICLasso(2, covariates=["batch"])
    found = selector.fit(annotated, "response")
    expected = HSICLasso(2).fit(
        annotated, notes["response"], covariates=pd.DataFrame({"batch": notes["batch"]})
    )
    assert found.result_.names[0] == "g2"
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert HSICLasso(1).fit(annotated, "response").result_.names == ("g0",)


def test_roles_of_columns_and_annotations(annotated):
    data = assemble("here", annotated, Roles(("g1", "response"), "w", frozenset({"g4"})))
    assert data.y.shape == (50, 2)
    np.testing.assert_array_equal(data.weights, annotated.annotations["w"])
    assert [data.source.name(j) for j in range(6)] == ["g0", "g2", "g3", "g5", "g6", "g7"]
    assert list(data.source.annotations) == ["batch"]
    np.testing.assert_array_equal(
        data.source.block(slice(1, 4)), annotated.block(np.array([2, 3, 5]))
    )


def test_ambiguous_and_unknown_names(annotated):
    annotated.annotations["g1"] = annotated.annotations["w"]
    with pytest.raises(InvalidInputError, match=r"'g1' is a feature of .* and also describes"):
        HSICLasso().fit(annotated, "g1")
    with pytest.raises(InvalidInputError, match="did you mean 'response'"):
        HSICLasso().fit(annotated, "respnse")
    with pytest.raises(InvalidInputError, match="plain_delta"):
        assemble("here", annotated, Roles(("w",), category=frozenset({"g4"})))


def test_numbers_as_labels(annotated):
    data = assemble("here", annotated, Roles(("g2",), category=frozenset({"g2"})))
    assert all(isinstance(label, str) for label in data.y)


def test_column_subset_keeps_chunks_and_identity(annotated):
    some = ColumnSubset(annotated, np.array([1, 2, 5, 6]))
    assert [some.name(j) for j in range(4)] == ["g1", "g2", "g5", "g6"]
    assert some.chunks(1) == [slice(0, 1), slice(1, 2), slice(2, 3), slice(3, 4)]
    np.testing.assert_array_equal(
        some.load(slice(1, 3)).block(slice(0, 2)), some.block(slice(1, 3))
    )
    assert some.identity() != ColumnSubset(annotated, np.array([1, 2, 5, 7])).identity()
    assert some.identity() == ColumnSubset(annotated, np.array([1, 2, 5, 6])).identity()
