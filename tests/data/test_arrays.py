"""NPY, MATLAB, HDF5 and Zarr files."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest
from scipy import io, sparse

from hsiclasso import HSICLasso, InvalidInputError
from hsiclasso.data.arrays import says_anndata, split_inside
from hsiclasso.data.files import read_table
from hsiclasso.data.stored import StoredArray
from hsiclasso.data.vectors import read_target

X = np.arange(12.0).reshape(4, 3) ** 2
Y = np.array([3.0, 1.0, 2.0, 5.0])


def names(table):
    return [table.source.name(j) for j in range(table.source.n_features)]


def values(table):
    return table.source.block(slice(0, table.source.n_features))


def hdf5(file, **arrays):
    h5py = pytest.importorskip("h5py")
    with h5py.File(file, "w") as root:
        for name, array in arrays.items():
            root[name.replace("__", "/")] = array
    return file


def zarr_store(file, **arrays):
    zarr = pytest.importorskip("zarr")
    root = zarr.create_group(file)
    for name, array in arrays.items():
        path, given = name.replace("__", "/"), np.asarray(array)
        if given.dtype.kind in "UO":
            root.create_array(path, shape=given.shape, dtype="string")[:] = given.astype(object)
        else:
            root.create_array(path, data=given)
    return file


TREES = {"t.h5": hdf5, "t.hdf5": hdf5, "t.zarr": zarr_store}


@pytest.fixture(params=TREES)
def tree(request, tmp_path):
    return lambda **arrays: TREES[request.param](tmp_path / request.param, **arrays)


class TestTrees:
    def test_annotations_and_names(self, tree):
        sex = ["f", "m", "f", "m"]
        file = tree(
            X=X, y=Y, sex=sex, w=np.ones(4), feature_names=["a", "b", "c"], other=np.ones(9)
        )
        table = read_table(file, "y", weights="w", drop="b")
        assert isinstance(table.source._source, StoredArray)
        assert names(table) == ["a", "c"]
        assert table.y.tolist() == Y.tolist()
        assert table.weights.tolist() == [1, 1, 1, 1]
        assert table.source.annotations["sex"].tolist() == sex
        np.testing.assert_array_equal(values(table), X[:, [0, 2]])
        assert read_table(file, "sex").y.tolist() == sex
        assert read_table(file, "a").y.tolist() == X[:, 0].tolist()

    def test_the_only_table(self, tree):
        file = tree(expression=X, y=Y, note=np.arange(2))
        assert read_table(file, "y").source.n_features == 3

    def test_several_tables(self, tree):
        file = tree(run1__A=X, run1__B=X + 1, run1__y=Y, run2__X=X + 2, run2__y=Y)
        with pytest.raises(InvalidInputError, match=r"several tables .* as in .*:/run1/A"):
            read_table(file, "y")
        np.testing.assert_array_equal(values(read_table(f"{file}:/run1/B", "y")), X + 1)
        np.testing.assert_array_equal(values(read_table(f"{file}:/run2", "y")), X + 2)
        with pytest.raises(InvalidInputError, match="no array or group 'run3': give one of"):
            read_table(f"{file}:/run3", "y")

    def test_several_outputs(self, tree):
        table = read_table(tree(X=X, y=np.ones((4, 2))), "y")
        assert table.y.shape == (4, 2)

    def test_own_target(self, tree, rng):
        big = rng.standard_normal((60, 8))
        file = tree(X=big)
        assert HSICLasso(1).fit(file, big[:, 5] ** 2).selected_.tolist() == [5]

    @pytest.mark.parametrize(
        ("arrays", "words"),
        [
            ({"X": np.ones(4), "y": Y}, r"X in .* has shape \(4,\), but a table has two dim"),
            ({"X": np.ones((4, 3, 2)), "y": Y}, r"X in .* has shape \(4, 3, 2\), but a table"),
            ({"X": X.astype(complex), "y": Y}, r"X in .* has dtype complex128"),
            ({"X": X, "y": np.ones(5)}, r"y in .* has shape \(5,\), but X has 4 rows"),
            ({"X": X, "y": Y, "names": ["a"]}, r"has 1 names of features, but X has 3 columns"),
            ({"y": Y}, r"has no array named 'X' and no other table of numbers, only 'y'"),
            ({"X": X}, r"'y', the target, is not a column of"),
            ({"X": X[:2], "y": Y[:2]}, "has 2 data row"),
        ],
    )
    def test_files_that_break_a_rule(self, tree, arrays, words):
        with pytest.raises(InvalidInputError, match=words):
            read_table(tree(**arrays), "y")

    def test_written_by_anndata(self, tmp_path):
        h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
        plain = hdf5(tmp_path / "plain.h5", X=X)
        with h5py.File(tmp_path / "cells.h5", "w") as root:
            root.attrs["encoding-type"] = "anndata"
        zarr.create_group(tmp_path / "cells.zarr").attrs["encoding-type"] = "anndata"
        assert says_anndata(tmp_path / "cells.h5")
        assert says_anndata(tmp_path / "cells.zarr")
        assert not says_anndata(plain)
        assert not says_anndata(tmp_path / "none.h5")


def test_paths_within_files(tmp_path):
    odd = tmp_path / "t.h5:"
    odd.mkdir()
    assert split_inside(odd / "X")[1] == "X" or split_inside(odd) == (odd, "")
    assert split_inside("a.csv:/b")[1] == ""
    with pytest.raises(InvalidInputError, match="suffix"):
        read_table("a.csv:/b", "y")


class TestNPY:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_streamed(self, tmp_path, order):
        np.save(tmp_path / "X.npy", np.asarray(X, dtype=np.float32, order=order))
        table = read_table(tmp_path / "X.npy", ())
        assert not table.source.in_memory
        assert table.y is None
        np.testing.assert_array_equal(values(table), X)
        assert read_table(tmp_path / "X.npy", "x1").y.tolist() == X[:, 1].tolist()

    @pytest.mark.parametrize(
        ("array", "words"),
        [
            (np.ones(4), r"X\.npy has shape \(4,\), but a table has two dimensions"),
            (np.ones((4, 3, 2)), r"X\.npy has shape \(4, 3, 2\), but a table has two dimensions"),
            (np.array([["a", "b"]] * 4), r"X\.npy has dtype <U1"),
            (np.array([[1, "b"]] * 4, dtype=object), r"X\.npy holds Python objects, which can run"),
        ],
    )
    def test_what_is_no_table(self, tmp_path, array, words):
        np.save(tmp_path / "X.npy", array)
        with pytest.raises(InvalidInputError, match=words):
            read_table(tmp_path / "X.npy", ())

    def test_columns_have_no_names(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        with pytest.raises(InvalidInputError, match=r"'y' is not known: .*--target-file FILE"):
            read_table(tmp_path / "X.npy", "y")

    def test_lengths_that_differ(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        with pytest.raises(ValueError, match="4"):
            HSICLasso(1).fit(tmp_path / "X.npy", np.ones(5))


def mat73(file, cells=(), **variables):
    """Write as MATLAB does: transposed, after 512 bytes of its own."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(file, "w", userblock_size=512) as root:
        for name, variable in variables.items():
            if sparse.issparse(variable):
                group, columns = root.create_group(name), sparse.csc_array(variable)
                group.attrs["MATLAB_sparse"] = columns.shape[0]
                group["data"], group["ir"] = columns.data, columns.indices
                group["jc"] = columns.indptr
            elif np.asarray(variable).dtype.kind == "U":
                width = max(map(len, variable))
                signs = [[ord(sign) for sign in text.ljust(width)] for text in variable]
                root[name] = np.array(signs, dtype=np.uint16).T
                root[name].attrs["MATLAB_class"] = np.bytes_("char")
            else:
                root[name] = np.atleast_2d(variable).T
        for name, texts in dict(cells).items():
            made = root.create_dataset(name, (1, len(texts)), dtype=h5py.ref_dtype)
            made.attrs["MATLAB_class"] = np.bytes_("cell")
            for j, text in enumerate(texts):
                root[f"#refs#/{name}{j}"] = np.array([[ord(sign)] for sign in text], np.uint16)
                made[0, j] = root[f"#refs#/{name}{j}"].ref
    return file


def mat5(file, cells=(), **variables):
    texts = {name: np.array(cell, dtype=object) for name, cell in dict(cells).items()}
    io.savemat(file, variables | texts)
    return file


@pytest.mark.parametrize("write", [mat5, mat73])
class TestMAT:
    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize("row", [False, True])
    def test_samples_are_rows_or_columns(self, tmp_path, write, turned, row):
        y = Y[None, :] if row else Y[:, None]
        file = write(tmp_path / "t.mat", X=X.T if turned else X, Y=y)
        table = read_table(file, "Y")
        assert table.y.tolist() == Y.tolist()
        np.testing.assert_array_equal(values(table), X)
        np.testing.assert_array_equal(
            values(read_table(file, ())), X
        )  # y says which, if it is there

    def test_rows_are_samples_without_a_target(self, tmp_path, write):
        file = write(tmp_path / "t.mat", X=X)
        assert read_table(file, ()).source.n_samples == 4
        assert read_table(file, "x2").y.tolist() == X[:, 2].tolist()

    def test_names_and_labels(self, tmp_path, write):
        cells = {"feature_names": ["alpha", "b", "c"], "tissue": ["u", "vv", "u", "w"]}
        file = write(tmp_path / "t.mat", cells, X=X, y=Y)
        table = read_table(file, "tissue")
        assert names(table) == ["alpha", "b", "c"]
        assert table.y.tolist() == ["u", "vv", "u", "w"]

    def test_characters(self, tmp_path, write):
        file = write(tmp_path / "t.mat", X=X, y=Y, names=np.array(["alpha", "b", "c"]))
        assert names(read_table(file, "y")) == ["alpha", "b", "c"]

    def test_several_outputs(self, tmp_path, write):
        Z = np.column_stack([Y, Y + 1])
        for name, A, B in (("rows", X, Z), ("columns", X.T, Z.T)):
            table = read_table(write(tmp_path / f"{name}.mat", X=A, Y=B), "Y")
            np.testing.assert_array_equal(table.y, Z)

    def test_sparse(self, tmp_path, write):
        dense = X * (X > 20)
        file = write(tmp_path / "t.mat", X=sparse.csc_matrix(dense), y=Y)
        table = read_table(file, "y")
        assert table.source.stored(slice(0, 1)) is not None
        np.testing.assert_array_equal(values(table), dense)

    def test_another_variable(self, tmp_path, write):
        file = write(tmp_path / "t.mat", A=X, B=X + 1, y=Y)
        with pytest.raises(InvalidInputError, match=r"several tables .* as in .*t\.mat:/A"):
            read_table(file, "y")
        np.testing.assert_array_equal(values(read_table(f"{file}:/B", "y")), X + 1)
        with pytest.raises(InvalidInputError, match="no variable 'C', only A, B, y"):
            read_table(f"{file}:/C", "y")

    @pytest.mark.parametrize(
        ("variables", "words"),
        [
            ({"X": X, "y": np.ones(5)}, r"X of 4 x 3 and a target of .*: lengths must agree"),
            ({"X": X[:3], "y": np.ones(3)}, r"a square X \(3 x 3\), and it is not clear whether"),
            ({"y": Y}, "has no array named 'X'"),
            ({"X": X}, "'y', the target, is not a column"),
        ],
    )
    def test_files_that_break_a_rule(self, tmp_path, write, variables, words):
        with pytest.raises(InvalidInputError, match=words):
            read_table(write(tmp_path / "t.mat", **variables), "y")


def test_files_of_pyhsiclasso(data_folder):
    folder = data_folder / "formats" / "pyhsiclasso"
    if not folder.is_dir():
        pytest.skip("the files of pyHSICLasso are absent")
    table = read_table(folder / "matlab_data.mat", "Y")
    assert (table.source.n_samples, table.source.n_features) == (100, 2000)
    assert table.y.shape == (100,)
    matrix = np.load(folder / "X_in.npy")
    expected = HSICLasso(5).fit(matrix.T, read_target(folder / "Y_in.npy", 100))
    assert len(expected.selected_) == 5


def read_whole(file):
    table = read_table(file, ())
    table.source.load(slice(0, table.source.n_features))


def damage(file, how):
    data = bytearray(file.read_bytes())
    if how == "cut":
        data = data[: len(data) // 2]
    elif how == "short":
        data = data[:30]
    else:
        data[: min(600, len(data))] = b"?" * min(600, len(data))
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["cut", "short", "overwritten"])
@pytest.mark.parametrize("name", ["t.npy", "t.npz", "5.mat", "7.mat", "t.h5", "t.zip"])
def test_damaged_files(tmp_path, name, how, rng):
    file, big = tmp_path / name, rng.random((50, 30))
    if name == "t.npy":
        np.save(file, big)
    elif name == "t.npz":
        np.savez(file, X=big, y=big[:, 0])
    elif name == "t.zip":
        zarr = pytest.importorskip("zarr")
        store = zarr.storage.ZipStore(file, mode="w")
        zarr.create_array(store, data=big)
        store.close()
    else:
        write = {"5.mat": mat5, "7.mat": mat73, "t.h5": hdf5}[name]
        write(file, X=big, y=big[:, 0])
    damage(file, how)
    with pytest.raises(InvalidInputError, match=re.escape(name)):
        read_whole(file)


def test_damaged_zarr(tmp_path):
    file = zarr_store(tmp_path / "t.zarr", X=X, y=Y)
    description = file / "X" / "zarr.json"
    text = description.read_text()
    description.write_text(text.replace("float64", "float65"))
    with pytest.raises(InvalidInputError, match=r"t\.zarr"):
        read_table(file, "y")
    description.write_text(text[:50])
    with pytest.raises(InvalidInputError, match=r"t\.zarr"):
        read_table(file, "y")
    description.unlink()
    with pytest.raises(InvalidInputError, match=r"t\.zarr"):
        read_table(file, "y")
    (file / "zarr.json").unlink()
    with pytest.raises(InvalidInputError, match=r"t\.zarr"):
        read_table(file, "y")
    with pytest.raises(InvalidInputError, match="does not exist"):
        read_table(tmp_path / "none.zarr", "y")


def test_damaged_chunks(tmp_path, rng):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "t.zarr", data=rng.random((50, 20)), chunks=(50, 5))
    chunk = next(path for path in (tmp_path / "t.zarr" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:40])
    with pytest.raises(InvalidInputError, match=r"t\.zarr\[:, 15:20\] cannot be read as an array"):
        HSICLasso(1).fit(tmp_path / "t.zarr", rng.random(50))


class TestTarget:
    def test_arrays(self, tmp_path):
        for y in (Y, Y[None, :], Y[:, None]):
            np.save(tmp_path / "y.npy", y)
            assert read_target(tmp_path / "y.npy", 4).tolist() == Y.tolist()
        np.save(tmp_path / "y.npy", X)
        np.testing.assert_array_equal(read_target(tmp_path / "y.npy", 4), X)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("1\n2\n3.5\n", [1, 2, 3.5]),
            ("dose\n1\n2\n3.5", [1, 2, 3.5]),
            ("u\nv\nu\n\n", ["u", "v", "u"]),
            ('kind\n"u"\nNA\n"v"\n', ["u", None, "v"]),
            ("true\nfalse\ntrue\n", [True, False, True]),
        ],
    )
    def test_text(self, tmp_path, text, expected):
        (tmp_path / "y.txt").write_text(text)
        assert read_target(tmp_path / "y.txt", 3).tolist() == expected

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("1\n2\n", r"y\.csv has 2 values, but the table has 3 rows"),
            ("a,b\n1,2\n3,4\n5,6\n", "looks like several columns"),
            ("1\n2\noops\n", "holds 'oops' in data row 3"),
        ],
    )
    def test_what_breaks_a_rule(self, tmp_path, text, words):
        (tmp_path / "y.csv").write_text(text)
        with pytest.raises(InvalidInputError, match=words):
            read_target(tmp_path / "y.csv", 3)

    def test_arrays_that_break_a_rule(self, tmp_path):
        np.save(tmp_path / "y.npy", np.ones(5))
        with pytest.raises(InvalidInputError, match=r"has shape \(5,\), but the table has 4 rows"):
            read_target(tmp_path / "y.npy", 4)
        (tmp_path / "y.npy").write_bytes(b"nothing")
        with pytest.raises(InvalidInputError, match=r"y\.npy cannot be read as a target"):
            read_target(tmp_path / "y.npy", 4)


def test_text_with_signs_that_do_not_exist_is_refused(tmp_path):
    y = np.array(["a", "b", "a", "b"])
    y.view(np.uint32)[1] = 0x110000
    np.savez(tmp_path / "t.npz", X=np.eye(4), y=y)
    with pytest.raises(InvalidInputError, match="y is text with signs that do not exist"):
        read_table(tmp_path / "t.npz", "y")


def test_a_member_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X", b"no array")
    with pytest.raises(InvalidInputError, match="X is no array"):
        read_table(tmp_path / "t.npz", "y")
