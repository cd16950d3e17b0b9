"""Features with the same name: refused, told apart or averaged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import HSICLasso, InvalidInputError, read_table
from hsiclasso.data.dataset import assemble
from hsiclasso.data.duplicates import AveragedColumns, RenamedColumns, averaged, unique_names
from hsiclasso.data.layout import Roles
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.stored import StoredArray


@given(st.lists(st.sampled_from(["a", "a.1", "a.1.1", "a.2", "b", "b.1"]), max_size=12))
def test_unique_names_are_unique_and_keep_first_ones(names):
    made = unique_names(names)
    assert len(set(made)) == len(made) == len(names)
    for j, (name, new) in enumerate(zip(names, made, strict=True)):
        assert new == name if name not in names[:j] else new.startswith(f"{name}.")


def save(file, X, names, y):
    lines = [",".join([*names, "y"])]
    lines += [",".join(map(str, [*row, value])) for row, value in zip(X.tolist(), y, strict=True)]
    file.write_text("\n".join(lines) + "\n")
    return file


def names_of(source):
    return [source.name(j) for j in range(source.n_features)]


@pytest.fixture
def table(rng):
    return rng.standard_normal((30, 7)), ["p", "q", "p", "r", "q", "p", "s"]


def means(X, names):
    columns = np.array(names)
    return np.column_stack([X[:, columns == name].mean(axis=1) for name in dict.fromkeys(names)])


class TestAverages:
    def test_values_and_names(self, table):
        X, names = table
        source = AveragedColumns(ArraySource(X, names))
        assert names_of(source) == ["p", "q", "r", "s"]
        np.testing.assert_allclose(source.block(slice(0, 4)), means(X, names), rtol=1e-14)
        some = source.block(np.array([3, 1]))
        np.testing.assert_allclose(some, means(X, names)[:, [3, 1]], rtol=1e-14)
        assert some.flags.f_contiguous
        np.testing.assert_array_equal(source.block(slice(2, 4)), X[:, [3, 6]])
        assert source.block(slice(0, 0)).shape == (30, 0)
        assert source.uniform_kind == "number"
        assert source.categories(0) is None

    def test_nothing_to_average(self, table):
        source = ArraySource(table[0])
        assert averaged(source) is source

    def test_missing_values(self):
        X = np.array([[1.0, 3.0], [np.nan, 5.0], [np.nan, np.nan]])
        source = AveragedColumns(ArraySource(X, ["a", "a"]))
        np.testing.assert_array_equal(source.block(slice(0, 1)).ravel(), [2, 5, np.nan])

    def test_a_table_that_is_not_in_memory(self, table, tmp_path):
        X, names = table
        np.save(tmp_path / "X.npy", X)
        stored = StoredArray(np.load(tmp_path / "X.npy", mmap_mode="r"), names)
        source = AveragedColumns(stored)
        assert not source.in_memory
        loaded = [source.load(part) for part in source.chunks(X.nbytes // 3)]
        assert len(loaded) > 1
        assert [name for part in loaded for name in names_of(part)] == ["p", "q", "r", "s"]
        blocks = [part.block(slice(0, part.n_features)) for part in loaded]
        np.testing.assert_allclose(np.hstack(blocks), means(X, names), rtol=1e-14)
        assert source.identity() != stored.identity()
        assert source.n_bytes == stored.n_bytes
        y = means(X, names)[:, 1] ** 2
        found = HSICLasso(2).fit(source, y)
        expected = HSICLasso(2).fit(means(X, names), y)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
        renamed = RenamedColumns(stored)
        assert names_of(renamed.load(slice(2, 5))) == ["p.1", "r", "q.1"]

    def test_in_memory_chunks(self, table):
        source = AveragedColumns(ArraySource(*table))
        assert names_of(source.load(slice(1, 3))) == ["q", "r"]

    def test_labels_have_no_mean(self, tmp_path):
        file = tmp_path / "t.csv"
        file.write_text("a,b,a,y\n1,2,u,0\n3,4,v,1\n5,7,u,1\n")
        with pytest.raises(InvalidInputError, match=r"2 columns are named 'a' .* no mean"):
            read_table(file, "y", duplicates="mean")
        file.write_text("a,kind,a,y\n1,p,2,0\n3,q,4,1\n5,p,6,1\n")
        source = read_table(file, "y", duplicates="mean").source
        assert [source.kind(j) for j in range(2)] == ["number", "text"]
        assert source.uniform_kind is None
        assert source.categories(1) == ["p", "q"]


class TestFiles:
    def test_each_choice(self, table, tmp_path):
        X, names = table
        file = save(tmp_path / "t.csv", X, names, range(30))
        with pytest.raises(InvalidInputError, match=r"'p', 'q'.*--duplicates unique.*mean"):
            read_table(file, "y")
        unique = read_table(file, "y", duplicates="unique").source
        assert names_of(unique) == ["p", "q", "p.1", "r", "q.1", "p.2", "s"]
        np.testing.assert_array_equal(unique.block(slice(0, 7)), X)
        mean = read_table(file, "y", duplicates="mean", drop="r").source
        assert names_of(mean) == ["p", "q", "s"]
        np.testing.assert_allclose(
            mean.block(slice(0, 3)), means(X, names)[:, [0, 1, 3]], rtol=1e-14
        )
        assert read_table(file, "p.1", duplicates="unique").y.tolist() == X[:, 2].tolist()

    def test_what_is_refused(self, table, tmp_path):
        file = save(tmp_path / "t.csv", *table, range(30))
        with pytest.raises(InvalidInputError, match="several columns named 'p'"):
            read_table(file, "p", duplicates="mean")
        with pytest.raises(InvalidInputError, match="duplicates='sum' is unknown"):
            read_table(file, "y", duplicates="sum")

    @pytest.mark.parametrize("duplicates", ["unique", "mean"])
    def test_through_assemble(self, table, duplicates):
        X, names = table
        source = ArraySource(np.column_stack([X, X[:, 0]]), [*names, "y"])
        roles = Roles(("y",), duplicates=duplicates)
        data = assemble("here", source, roles)
        expected = unique_names(names) if duplicates == "unique" else ["p", "q", "r", "s"]
        assert names_of(data.source) == expected
        with pytest.raises(InvalidInputError, match="several columns named"):
            assemble("here", source, Roles(("y",)))


@pytest.mark.parametrize("transpose", [False, True])
def test_probes_of_genes(load_real, tmp_path, transpose):
    """5,748 probes of 4,861 gene symbols, in columns and in rows."""
    from hsiclasso import TextFormat

    real = load_real("TOX_171")
    rows = np.arange(0, 171, 6)
    X, symbols = real["X"][rows].astype(np.float64), real["gene_symbol"].tolist()
    y = real["y"][rows]
    unnamed = np.array([not str(name).strip() for name in symbols])
    X = X[:, ~unnamed]
    symbols = [str(name) for name, skip in zip(symbols, unnamed, strict=True) if not skip]
    file = save(tmp_path / "t.csv", X, symbols, y)
    if transpose:
        cells = [line.split(",") for line in file.read_text().splitlines()]
        turned = ["\t".join(row) for row in zip(*cells, strict=True)]
        header = "\t".join(["gene", *(f"s{i}" for i in range(len(rows)))])
        file = tmp_path / "t.tsv"
        file.write_text("\n".join([header, *turned]) + "\n")
    text = TextFormat(transpose=transpose)
    mean = read_table(file, "y", duplicates="mean", text=text).source
    assert names_of(mean) == list(dict.fromkeys(symbols))
    assert mean.n_features < X.shape[1]
    np.testing.assert_allclose(mean.block(slice(0, 200)), means(X, symbols)[:, :200], rtol=1e-12)
    unique = read_table(file, "y", duplicates="unique", text=text).source
    assert unique.n_features == X.shape[1]
    np.testing.assert_array_equal(unique.block(slice(0, 50)), X[:, :50])
