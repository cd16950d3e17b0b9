"""MATLAB 5 files whose tags have no meaning are refused: SciPy would crash on some of them."""

from __future__ import annotations

import io as streams
import struct

import numpy as np
import pytest
from scipy import io, sparse

from hsiclasso import InvalidInputError, read_table
from hsiclasso.data.mat_tags import check_tags

RNG = np.random.default_rng(0)
#: Variables of all classes that SciPy writes.
VARIABLES = {
    "X": RNG.standard_normal((40, 3)), "y": RNG.random(40) > 0.5, "small": np.arange(3, dtype="i2"),
    "words": np.array(["alpha", "b"]), "cells": np.array(["g1", "g2", np.eye(2)], dtype=object),
    "record": {"a": 1, "b": {"c": "text"}}, "s": sparse.csc_matrix(np.eye(4)),
    "z": np.array([1 + 2j, 3]), "empty": np.empty((0, 0)), "whole": np.int8(7),
}  # fmt: skip


def written(compressed, **variables):
    stream = streams.BytesIO()
    io.savemat(stream, variables, do_compression=compressed, oned_as="column")
    return stream.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
def test_what_scipy_writes_is_accepted(compressed, tmp_path):
    file = tmp_path / "t.mat"
    file.write_bytes(written(compressed, **VARIABLES))
    check_tags(file)
    assert len(read_table(file, "y").y) == 40
    old = tmp_path / "4.mat"
    io.savemat(old, {"X": VARIABLES["X"], "y": np.arange(40.0)}, format="4")
    check_tags(old)  # has no tags
    assert read_table(old, "y").source.n_features == 3


@pytest.mark.parametrize("kind", [0, 8, 10, 14, 15, 19, 20, 77, 2**15])
def test_types_without_meaning_are_refused(kind, tmp_path):
    """The type of the numbers of X: header, tag, flags, shape and name come before it."""
    file, place = tmp_path / "t.mat", 128 + 8 + 16 + 16 + 8
    content = bytearray(written(False, X=VARIABLES["X"], y=np.arange(40.0)))
    assert struct.unpack_from("<II", content, place) == (9, 40 * 3 * 8)
    struct.pack_into("<I", content, place, kind)
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=rf"element of type {kind} "):
        read_table(file, "y")


@pytest.mark.parametrize("shape", [(5, 0, 40, 3), (5, 4, 40, 3), (6, 8, 40, 3), (5, 8, 40, -3)])
def test_shapes_without_meaning_are_refused(shape, tmp_path):
    content = bytearray(written(False, X=VARIABLES["X"], y=np.arange(40.0)))
    assert struct.unpack_from("<IIii", content, 128 + 8 + 16) == (5, 8, 40, 3)
    struct.pack_into("<IIii", content, 128 + 8 + 16, *shape)
    (tmp_path / "t.mat").write_bytes(content)
    with pytest.raises(InvalidInputError, match="shape"):
        read_table(tmp_path / "t.mat", "y")


@pytest.mark.parametrize("compressed", [False, True])
def test_files_that_end_early_are_refused(compressed, tmp_path):
    file, content = tmp_path / "t.mat", written(compressed, X=VARIABLES["X"])
    for size in range(129, len(content) - 8, 37):
        file.write_bytes(content[:size])
        with pytest.raises(InvalidInputError, match="cannot be read"):
            read_table(file, "y")


def test_matrices_without_end_are_refused(tmp_path):
    deep = np.empty((1, 1), dtype=object)
    deep[0, 0] = np.eye(2)
    for _ in range(80):
        deep, inner = np.empty((1, 1), dtype=object), deep
        deep[0, 0] = inner
    (tmp_path / "t.mat").write_bytes(written(False, X=deep, y=np.arange(3.0)))
    with pytest.raises(InvalidInputError, match="matrices within"):
        read_table(tmp_path / "t.mat", "y")
