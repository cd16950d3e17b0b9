"""What the quadratic programs share: eigenvalues, shifts, problems without a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import InvalidInputError
from hsiclasso.baselines import quadratic
from hsiclasso.baselines.quadratic import (
    DenseQuadratic,
    LowRankQuadratic,
    lowest_eigenvalue,
    make_convex,
)


def matrices(rng, d=60):
    """Matrices with non-negative entries, definite, singular and indefinite."""
    X = rng.standard_normal((40, d))
    correlation = np.abs(np.corrcoef(X, rowvar=False))
    definite = correlation**2 + 0.1 * np.eye(d)
    low_rank = rng.random((d, 7))
    copies = definite[np.ix_(np.arange(d) // 2, np.arange(d) // 2)]
    return {
        "indefinite": correlation**0.3 - 0.5 * np.eye(d),
        "definite": definite,
        "low rank": low_rank @ low_rank.T,
        "copies": copies,
        "hardly indefinite": definite - (np.linalg.eigvalsh(definite)[0] + 1e-5) * np.eye(d),
        "large": 1e9 * definite,
    }


KINDS = tuple(matrices(np.random.default_rng(0)))


@pytest.fixture(params=["direct", "inverse"])
def way(request, monkeypatch):
    """The way of small matrices, and that of large ones."""
    if request.param == "inverse":
        monkeypatch.setattr(quadratic, "_DIRECT", 45)
    return request.param


class TestLowestEigenvalue:
    def test_numpy(self, way, rng):
        for matrix in matrices(rng).values():
            before = matrix.copy()
            found, error = lowest_eigenvalue(matrix)
            values = np.linalg.eigvalsh(matrix)
            assert found == pytest.approx(values[0], abs=1e-12 * values[-1] + 2 * error)
            assert error < 1e-8 * values[-1]
            np.testing.assert_array_equal(matrix, before)

    def test_a_bad_guess_is_made_up_for(self, monkeypatch, rng):
        matrix = matrices(rng)["indefinite"]
        monkeypatch.setattr(quadratic, "_DIRECT", 45)
        monkeypatch.setattr(quadratic, "_guess_lift", lambda matrix, start: 1e-6)
        lowest = np.linalg.eigvalsh(matrix)[0]
        assert lowest_eigenvalue(matrix)[0] == pytest.approx(lowest, rel=1e-9)

    def test_it_is_the_same_every_time(self, way, rng):
        matrix = matrices(rng)["indefinite"]
        assert lowest_eigenvalue(matrix) == lowest_eigenvalue(matrix)


class TestShift:
    @pytest.mark.parametrize("kind", KINDS)
    def test_auto(self, kind, way, rng):
        matrix = matrices(rng)[kind]
        before, values = matrix.copy(), np.linalg.eigvalsh(matrix)
        shift, lowest = make_convex(matrix, "auto", strictly=True)
        top = before.max()
        assert lowest == pytest.approx(values[0], abs=1e-8 * top)
        assert shift == pytest.approx(max(0.0, -values[0]), abs=1e-7 * top)
        np.testing.assert_array_equal(matrix, before + shift * np.eye(60))
        np.linalg.cholesky(matrix)  # it is positive definite
        if kind in ("definite", "large"):
            assert shift == 0

    def test_given(self, way, rng):
        matrix = matrices(rng)["indefinite"]
        before = matrix.copy()
        shift, lowest = make_convex(matrix, 3.0, strictly=False)
        assert shift == 3.0
        assert lowest < 0
        np.testing.assert_array_equal(matrix, before + 3 * np.eye(60))

    @pytest.mark.parametrize("strictly", [True, False])
    def test_too_small(self, strictly, way, rng):
        matrix = matrices(rng)["indefinite"]
        before = matrix.copy()
        word = "definite" if strictly else "semi-definite"
        with pytest.raises(InvalidInputError, match=f"shift=0.1.* must be positive {word}.*'auto'"):
            make_convex(matrix, 0.1, strictly=strictly)
        np.testing.assert_array_equal(matrix, before)

    def test_the_least_that_the_message_names_is_enough(self, way, rng):
        matrix = matrices(rng)["indefinite"]
        with pytest.raises(InvalidInputError) as caught:
            make_convex(matrix, 0.0, strictly=True)
        least = float(str(caught.value).split("at least ")[1].rstrip("."))
        make_convex(matrix, least * (1 + 1e-5), strictly=True)

    def test_singular_matrices_need_none_unless_strictly(self, way, rng):
        matrix = matrices(rng)["copies"]
        assert make_convex(matrix, 0.0, strictly=False)[0] == 0
        with pytest.raises(InvalidInputError, match=r"shift=0\.0.*positive definite"):
            make_convex(matrix, 0.0, strictly=True)

    def test_no_feature(self):
        shift, lowest = make_convex(np.zeros((0, 0)), "auto", strictly=True)
        assert shift == 0
        assert np.isnan(lowest)


@st.composite
def subsets(draw, d=12):
    """Some features, in any order, perhaps twice."""
    return np.array(draw(st.lists(st.integers(0, d - 1), max_size=2 * d)), dtype=np.int64)


class TestProblems:
    @given(subsets(), subsets(), st.integers(0, 999))
    def test_entries(self, rows, cols, seed):
        rng = np.random.default_rng(seed)
        F, b = rng.standard_normal((12, 4)), rng.standard_normal(12)
        whole = 0.3 * (F @ F.T + 0.7 * np.eye(12))
        dense = DenseQuadratic(F @ F.T + 0.7 * np.eye(12), b, 0.3)
        low = LowRankQuadratic(F, b, 0.3, 0.7)
        for problem in (dense, low):
            np.testing.assert_allclose(
                problem.block(rows, cols), whole[rows][:, cols], rtol=0, atol=1e-13
            )
            np.testing.assert_allclose(problem.diagonal(rows), whole[rows, rows], rtol=1e-13)
            support = np.unique(rows)
            expected = whole[:, support] @ b[support]
            np.testing.assert_allclose(problem.times(support, b[support]), expected, atol=1e-13)

    def test_products_with_many_features(self, rng, monkeypatch):
        monkeypatch.setattr(quadratic, "_ROWS", 7)
        matrix = rng.standard_normal((30, 30))
        matrix += matrix.T
        features, weights = np.arange(3, 28), rng.standard_normal(25)
        found = DenseQuadratic(matrix, np.zeros(30)).times(features, weights)
        np.testing.assert_allclose(found, matrix[:, 3:28] @ weights, atol=1e-12)
