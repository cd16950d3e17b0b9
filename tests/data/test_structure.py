"""Sparse matrices whose arrays do not fit together are refused before compiled code reads them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import io, sparse

from hsiclasso import HSICLasso
from hsiclasso.data import as_source
from hsiclasso.data.matrices import read_matrix
from hsiclasso.data.structure import check_sparse, unmasked
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets import Affinity, Graph, Labels

N, D = 40, 6
FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def matrix(form, shape=(N, D)):
    return sparse.random_array(shape, density=0.4, random_state=np.random.default_rng(0)).asformat(
        form
    )


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_right_passes(form):
    made = matrix(form)
    assert abs(check_sparse("X", made) - made).max() == 0
    np.testing.assert_array_equal(as_source(made).block(slice(0, D)), made.toarray())


def broken(form, how):
    made = matrix(form)
    if how == "too large":
        (made.row if form == "coo" else made.indices)[3] = 10**6
    elif how == "negative":
        (made.row if form == "coo" else made.indices)[3] = -2
    elif how == "lengths":
        made.data = made.data[:-4]
    elif how == "ends":
        made.indptr[-1] += 1000
    elif how == "falls":
        made.indptr[2] = made.indptr[-1]
        made.indptr[3] = 0
    return made


BROKEN = [
    *((form, how) for form in ("csr", "csc", "bsr") for how in
      ("too large", "negative", "lengths", "ends", "falls")),
    *(("coo", how) for how in ("too large", "negative", "lengths")),
]  # fmt: skip


@pytest.mark.parametrize(("form", "how"), BROKEN)
def test_what_is_broken_is_refused(form, how):
    made = broken(form, how)
    message = r"is no valid sparse matrix of shape \(40, 6\): .*make it anew"
    with pytest.raises(InvalidInputError, match=f"X {message}"):
        HSICLasso(2).fit(made, np.arange(N))
    with pytest.raises(InvalidInputError, match=f"y {message}"):
        Labels().prepare(made, N)


@pytest.mark.parametrize("kind", [Affinity, Graph])
def test_matrices_between_samples(kind):
    made = sparse.csr_array(np.eye(N) + np.eye(N, k=1) + np.eye(N, k=-1))
    made.indices[5] = 4 * N
    with pytest.raises(InvalidInputError, match="is no valid sparse matrix"):
        kind().prepare(made, N)


def test_matrices_from_files(tmp_path):
    made = sparse.csr_array(np.eye(5))
    made.indices[2] = 77
    sparse.save_npz(tmp_path / "m.npz", made)
    with pytest.raises(InvalidInputError, match="is no valid sparse matrix"):
        Affinity().prepare(read_matrix(tmp_path / "m.npz"), 5)


def test_variables_of_matlab(tmp_path):
    made = matrix("csc")
    made.indices[3] = 1000
    io.savemat(tmp_path / "t.mat", {"X": made, "y": np.arange(N)})
    with pytest.raises(InvalidInputError):
        HSICLasso(2).fit(tmp_path / "t.mat", "y")


def test_masks_are_not_lost():
    values = np.ma.array(np.arange(12.0).reshape(4, 3), mask=np.eye(4, 3))
    block = as_source(values).block(slice(0, 3))
    np.testing.assert_array_equal(np.isnan(block), np.eye(4, 3))
    assert unmasked(np.ma.array([1, 2])).tolist() == [1, 2]
    assert unmasked(np.ma.array(["a", "b"], mask=[True, False])).tolist() == [None, "b"]
