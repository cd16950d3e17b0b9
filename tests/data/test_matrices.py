"""Matrices between samples, from files of every form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hsiclasso.data.matrices import read_matrix
from hsiclasso.errors import InvalidInputError

LINKS = np.array([[0.0, 1.5, 0.0], [1.5, 0.0, 2.0], [0.0, 2.0, 0.0]])


def write(folder, name, text):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.csv", "0,1.5,0\n1.5,0,2\n0,2,0\n"),
        ("m.tsv", "0\t1.5\t0\n1.5\t0\t2\n0\t2\t0"),
        ("m.txt", "0\t1.5\t0\n\n1.5\t0\t2\n0\t2\t0"),
        ("m.CSV", "a,b,c\n0,1.5,0\n1.5,0,2\n0,2,0\n"),
        ("m.csv", ",a,b,c\na,0,1.5,0\nb,1.5,0,2\nc,0,2,0\n"),
        ("m.csv", "id,1,2,3\n1,0,1.5,0\n2,1.5,0,2\n3,0,2,0\n"),
    ],
    ids=["csv", "tsv", "blank lines", "header", "names", "numbers as names"],
)
def test_text(tmp_path, name, text):
    assert np.array_equal(read_matrix(write(tmp_path, name, text)), LINKS)


def test_arrays(tmp_path):
    np.save(tmp_path / "m.npy", LINKS)
    np.savez(tmp_path / "m.npz", any_name=LINKS)
    for name in ("m.npy", "m.npz"):
        assert np.array_equal(read_matrix(tmp_path / name), LINKS)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_stays_sparse(tmp_path, make):
    sparse.save_npz(tmp_path / "m.npz", make(LINKS))
    read = read_matrix(tmp_path / "m.npz")
    assert sparse.issparse(read)
    assert np.array_equal(read.toarray(), LINKS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.xlsx", "", r"suffix '\.xlsx', and the suffix tells the format: use one of \.npz"),
        ("m.csv", "", "holds only blank lines"),
        ("m.csv", "0,1\n1,0\n1,1\n", r"has 3 rows of 2 numbers: a matrix .* is square"),
        ("m.csv", "0,1\n1\n", "has 2 rows of 1 or 2 numbers"),
        ("m.csv", "0,1\n1,x\n", r"holds 'x' in row 2, column 2 of the matrix"),
        ("m.csv", "0,1\n,0\n", r"holds '' in row 2, column 1 .* 0 stands for no link"),
        ("m.csv", ",a,b\na,0,1\nc,1,0\n", r"calls row 2 'c' and column 2 'b'"),
        ("m.npy", "no array", "cannot be read as a matrix"),
        ("m.npz", "no archive", "cannot be read as a matrix"),
    ],
)
def test_files_that_break_a_rule(tmp_path, name, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_matrix(write(tmp_path, name, text))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": LINKS, "b": LINKS}, r"holds 2 arrays \('a', 'b'\)"),
        ({"a": LINKS[:2]}, r"shape \(2, 3\) and dtype float64: .* square"),
        ({"a": LINKS[0]}, r"shape \(3,\)"),
        ({"a": LINKS.astype(str)}, "dtype <U"),
        ({"a": LINKS.astype(object)}, "allow_pickle"),
    ],
)
def test_arrays_that_break_a_rule(tmp_path, arrays, message):
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(InvalidInputError, match=message):
        read_matrix(tmp_path / "m.npz")


def test_a_missing_file(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist: check the spelling"):
        read_matrix(tmp_path / "no.npy")


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "m.csv").write_bytes(b"\xe4,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="cannot be read as a matrix"):
        read_matrix(tmp_path / "m.csv")
