"""The Gaussian kernel: its widths and its expansions; the rest is in `test_base`."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian, gaussian
from tests import oracles
from tests.columns import KINDS, make


def expand(column, kernel, share=1e-8):
    z = np.atleast_2d(column).copy()
    weights = np.ones((1, z.shape[1]))
    kernel.scale(z, weights)
    every = np.arange(len(z))
    return kernel.expand(z, every, np.full(len(z), share * z.shape[1]), weights)


def test_widths():
    assert Gaussian().widths == (1.0,)
    assert Gaussian([0.5, "median"]).widths == (0.5, "median")
    with pytest.raises(InvalidInputError, match=r"width=\(\) has no width: give one or more"):
        Gaussian(()).check()
    with pytest.raises(InvalidInputError, match=r"width=0\.0, but a gaussian kernel needs"):
        Gaussian((1.0, 0.0)).check()


def test_unknown_expansions():
    with pytest.raises(InvalidInputError, match=r"expansion='magic' is unknown: choose 'auto', "):
        Gaussian(expansion="magic").check()


def test_several_widths_are_learnt_in_numbers(rng):
    z = rng.standard_normal((1, 30))
    learnt = Gaussian((0.5, "median"), expansion="cholesky").learnt(z, np.ones(30))
    assert learnt.widths == (0.5, pytest.approx(oracles.median_nonzero_distance(z[0])))
    one = Gaussian("median")
    assert one.learnt(z, np.ones(30)) is one


def test_columns_of_equal_length_share_their_terms(rng):
    """Closed forms evaluate many columns at once; a far value needs a factor of its own."""
    block = rng.standard_normal((40, 200))
    block[7] = make("one outlier", 200, 1)
    made = expand(block, Gaussian())
    together = [terms for terms in made if terms.columns.size > 1]
    assert sum(terms.columns.size for terms in together) > 30
    assert [7] in [terms.columns.tolist() for terms in made]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_expansions_agree(kind):
    column, grams = make(kind, 80, 5), []
    for expansion in ("auto", "table", "cholesky"):
        (terms,) = expand(column, Gaussian(expansion=expansion))
        grams.append(terms.rows().T @ terms.rows())
    np.testing.assert_allclose(grams[1:], [grams[0]] * 2, atol=2e-6)


@pytest.mark.parametrize("kind", ["normal", "heavy tail", "two values", "all apart"])
@pytest.mark.parametrize("cells", [0.5, 16.0])
def test_pivots_from_cells(kind, cells, rng, monkeypatch):
    """Many samples: the factor keeps its promise also if the first cells are far too wide."""
    n = 3000
    z = {
        "normal": rng.standard_normal(n),
        "heavy tail": rng.standard_t(2, n),
        "two values": rng.integers(0, 2, n) * 1.5,
        "all apart": 10.0 * np.arange(n),  # a cell for every sample: no cells are used
    }[kind][: 300 if kind == "all apart" else n]
    weights = rng.random(z.size)
    monkeypatch.setattr(gaussian, "_MANY", 100)
    monkeypatch.setattr(gaussian, "_CELLS", cells)
    rows, left_out = gaussian._cholesky(z, np.ones(1), 1e-6 * z.size, weights)
    rest = np.exp(-0.5 * np.square(z[:, None] - z)) - rows.T @ rows
    assert left_out <= 1e-6 * z.size
    assert np.diag(rest) @ weights == pytest.approx(left_out, rel=1e-3, abs=1e-9)
    assert np.diag(rest).min() > -1e-9
    fewest, _, _ = gaussian._pivoted(z, np.ones(1), 1e-6 * z.size, weights)
    assert len(rows) <= 1.2 * len(fewest) + 1
