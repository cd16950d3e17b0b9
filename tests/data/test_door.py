import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import io

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
    with pytest.raises(InvalidInputError, match="'tumour' is a name, but a ndarray has neither"):
        HSICLasso().fit(frame.drop(columns="tumour").to_numpy(), "tumour")


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


class TestRowsOfPandas:
    """Rows are paired by position: indices that say otherwise are refused."""

    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)), columns=list("abc"))
    NAMES = tuple(f"s{i}" for i in range(20))

    def shuffled(self):
        named = self.X.set_axis(list(self.NAMES))
        return named, named["a"].sample(frac=1, random_state=0)

    def test_another_order(self):
        X, y = self.shuffled()
        message = (
            r"indices of X and y differ, first in row 0: 's0' and .* another order: pass y.loc"
        )
        with pytest.raises(InvalidInputError, match=message):
            as_dataset(X, y)
        with pytest.raises(InvalidInputError, match="indices of X and y differ"):
            as_dataset(X, y.to_frame())
        assert as_dataset(X, y.loc[X.index]).y.equals(X["a"])
        as_dataset(X, y.to_numpy())

    def test_other_labels(self):
        y = pd.Series(np.arange(20.0), index=np.arange(20) + 7)
        with pytest.raises(InvalidInputError, match=r"they have other labels: pass y\.loc"):
            as_dataset(self.X, y)

    def test_an_index_that_only_counts_says_nothing(self):
        as_dataset(self.X.set_axis(list(self.NAMES)), pd.Series(np.arange(20.0)))
        as_dataset(self.X, pd.Series(np.arange(20.0), index=list(self.NAMES)))

    @pytest.mark.parametrize("name", ["sample_weight", "covariates"])
    def test_weights_and_covariates(self, name):
        X, y = self.shuffled()
        with pytest.raises(InvalidInputError, match=f"indices of X and {name} differ"):
            HSICLasso(1).fit(X, X["b"], **{name: np.abs(y)})

    def test_samples_in_columns(self):
        with pytest.raises(InvalidInputError, match=r"y has 3 values.*columns: pass X\.T"):
            as_dataset(self.X, [1.0, 2.0, 3.0])

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    def test_a_target_by_its_name(self, make):
        table = make({name: self.X[name].to_numpy() for name in self.X})
        by_name = HSICLasso(1).fit(table, "c")
        values = HSICLasso(1).fit(self.X[["a", "b"]], self.X["c"].to_numpy())
        np.testing.assert_array_equal(by_name.relevance_, values.relevance_)
        assert by_name.feature_names_in_.tolist() == ["a", "b"]
        assert by_name.get_feature_names_out().size == 1
        assert as_dataset(table, ["a", "c"]).source.n_features == 1
        with pytest.raises(InvalidInputError, match="'d', the target, is not a column of X"):
            HSICLasso(1).fit(table, "d")


@pytest.mark.parametrize("suffix", ["npz", "mat"])
def test_files_of_arrays_have_their_target(tmp_path, suffix, rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    file = tmp_path / f"t.{suffix}"
    np.savez(file, X=X, y=y) if suffix == "npz" else io.savemat(file, {"X": X, "y": y})
    np.testing.assert_array_equal(
        HSICLasso(1).fit(file).relevance_, HSICLasso(1).fit(X, y).relevance_
    )
