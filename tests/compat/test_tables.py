"""What `input` takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from hsiclasso import InvalidInputError
from hsiclasso.compat import (
    ArgumentCountError,
    ArgumentTypeError,
    HSICLasso,
    input_csv_file,
    input_matlab_file,
    input_tsv_file,
)


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    return rng.integers(-2, 3, (12, 4)).astype(float), np.tile([0.0, 1.0, 1.0], 4)


def written(file, X, y, separator=",", name="class"):
    """Write a table with its target between the columns."""
    names = ["a", name, "b", "c", "d"]
    rows = np.insert(X, 1, y, axis=1)
    lines = [separator.join(names), *(separator.join(f"{v:g}" for v in row) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def given(model, X, y, names):
    np.testing.assert_array_equal(model.X_in, X.T)
    np.testing.assert_array_equal(model.Y_in, y[None])
    assert model.featname == names


@pytest.mark.parametrize("kind", ["csv", "tsv", "path", "output_list"])
def test_text_files(kind, small, tmp_path):
    X, y = small
    suffix, separator = (".tsv", "\t") if kind == "tsv" else (".csv", ",")
    target = "out" if kind == "output_list" else "class"
    file = written(tmp_path / f"table{suffix}", X, y, separator, target)
    model = HSICLasso()
    options = {"output_list": ["out"]} if kind == "output_list" else {}
    assert model.input(tmp_path / "table.csv" if kind == "path" else file, **options) is True
    given(model, X, y, ["a", "b", "c", "d"])
    read = input_tsv_file if kind == "tsv" else input_csv_file
    X_in, Y_in, names = read(file, **options)
    np.testing.assert_array_equal(X_in, X.T)
    np.testing.assert_array_equal(Y_in, y[None])
    assert names == ["a", "b", "c", "d"]


def test_several_outputs_of_a_file(small, tmp_path):
    X, y = small
    model = HSICLasso()
    model.input(written(tmp_path / "table.csv", X, y), output_list=["class", "c"])
    np.testing.assert_array_equal(model.Y_in, [y, X[:, 2]])
    assert model.featname == ["a", "b", "d"]


@pytest.mark.parametrize("names", [("X", "Y"), ("X_in", "Y_in"), ("x", "y"), ("x_in", "y_in")])
def test_matlab_files(names, small, tmp_path):
    X, y = small
    file = str(tmp_path / "table.mat")
    savemat(file, dict(zip(names, (X.T, y[None]), strict=True)))
    model = HSICLasso()
    model.input(file)
    given(model, X, y, ["1", "2", "3", "4"])
    np.testing.assert_array_equal(input_matlab_file(file)[0], X.T)


@pytest.mark.parametrize("column", [False, True])
def test_arrays(column, small):
    X, y = small
    model = HSICLasso()
    model.input(X, y[:, None] if column else y)
    given(model, X, y, ["1", "2", "3", "4"])
    model.input(X, y, featname=list("pqrs"))
    given(model, X, y, list("pqrs"))
    model.input(X, y, list("wxyz"))
    given(model, X, y, list("wxyz"))


def test_lists(small):
    X, y = small
    model = HSICLasso()
    model.input(X.tolist(), y.tolist())
    given(model, X, y, ["1", "2", "3", "4"])


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames(package, small):
    module = pytest.importorskip(package)
    X, y = small
    frame = module.DataFrame(dict(zip("abcd", X.T.copy(), strict=True)))
    model = HSICLasso()
    model.input(frame, y)
    given(model, X, y, list("abcd"))
    model.input(frame, output_list=["b"])
    given(model, X[:, [0, 2, 3]], X[:, 1], list("acd"))
    model.input(frame, output_list="b")
    given(model, X[:, [0, 2, 3]], X[:, 1], list("acd"))
    with pytest.raises(InvalidInputError, match="class"):
        model.input(frame)


def test_labels_of_frames_and_files_are_targets(small, tmp_path):
    X, y = small
    file = tmp_path / "table.csv"
    written(file, X, y)
    lines = file.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    text = [rows[0], *([a, "tree" if c == "1" else "bush", *rest] for a, c, *rest in rows[1:])]
    file.write_text("\n".join(",".join(row) for row in text) + "\n")
    numbers, labels = HSICLasso(), HSICLasso()
    numbers.input(X, y)
    labels.input(str(file))
    for model in (numbers, labels):
        model.classification(1, B=0)
    np.testing.assert_allclose(numbers.beta, labels.beta, rtol=1e-12)
    with pytest.raises(
        InvalidInputError, match=r"text such as '(bush|tree)', and regression needs"
    ):
        labels.regression(1, B=0)


ARRAY, LIST = np.arange(3), [1, 2, 3]


@pytest.mark.parametrize("args", [(), (ARRAY, ARRAY, LIST, LIST)])
def test_number_of_arguments(args):
    with pytest.raises(ArgumentCountError, match=rf"input got {len(args)} positional arguments"):
        HSICLasso().input(*args)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("table.txt",), r"input got the file 'table.txt', but reads only \.csv"),
        (("table_csv",), "reads only"),
        ((123,), "input got only a int"),
        ((LIST,), "input got only a list"),
        ((ARRAY,), "input got only a ndarray"),
        (("a.csv", "b.csv"), r"the target is a column of the file, which output_list"),
        ((ARRAY, LIST), "X as ndarray and y as list: pass both as arrays"),
        ((LIST, ARRAY), "X as list and y as ndarray"),
        ((ARRAY, ARRAY, "abc"), "names of features as str: pass a list"),
    ],
)
def test_types_of_arguments(args, words):
    with pytest.raises(ArgumentTypeError, match=words):
        HSICLasso().input(*args)


def test_what_does_not_fit_together(small, tmp_path):
    X, y = small
    model, csv = HSICLasso(), written(tmp_path / "table.csv", X, y)
    mat = str(tmp_path / "table.mat")
    savemat(mat, {"X": X, "Y": y[None]})
    other = str(tmp_path / "other.mat")
    savemat(other, {"data": X})
    new = tmp_path / "new.mat"
    new.write_bytes(b"MATLAB 7.3".ljust(124) + b"\x00\x02IM" + bytes(400))
    frame = {"output_list": ["class"]}
    for args, options, words in [
        ((X, y[:-1]), {}, "X has 12 samples .rows. and y has 11 values.*X.T"),
        ((X, np.zeros((2, 4))), {}, r"y has shape \(2, 4\), and X has 12 samples"),
        ((X, y), {"featname": ["a"]}, "featname has 1 names, and X has 4 features"),
        ((X, y), frame, "output_list=.'class'. names the target, and y is given too"),
        ((csv,), {"output_list": ["no"]}, "no"),
        ((csv,), {"output_list": []}, "names no column"),
        ((csv,), {"featname": ["a"]}, "featname: a file has names"),
        ((mat,), frame, "names columns, which a MATLAB file does not have"),
        ((mat,), {}, r"has X of shape \(12, 4\) and Y of shape \(1, 12\)"),
        ((other,), {}, "has the variables data: it needs"),
        ((new,), {}, "is a MATLAB file of version 7.3: save it with -v7"),
        (("no.csv",), {}, "no.csv does not exist"),
        (("no.mat",), {}, "no.mat does not exist"),
        (("txt",), {}, "file name 'txt', which is too short"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            model.input(*args, **options)


def test_unknown_options():
    with pytest.raises(TypeError):
        HSICLasso().input(ARRAY, ARRAY, names=LIST)
