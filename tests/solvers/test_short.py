"""Short paths select what the homotopy selects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.solvers import ExplicitProblem, Penalty, Status, Stop, solve_path
from hsiclasso.solvers import short as module
from hsiclasso.solvers.short import first_features
from tests.solvers.problems import designs, explicit


class Counting(ExplicitProblem):
    """A problem that notes which entries of G it is asked for."""

    def block(self, rows, cols):
        self.__dict__.setdefault("asked", []).append((rows.size, cols.size))
        return super().block(rows, cols)


def features_of(problem, number):
    path = solve_path(problem, Penalty.lasso(problem.linear.size), Stop(number))
    return path, path.breakpoints[-1].indices


@given(designs, st.integers(1, 12))
def test_the_same_features_as_the_homotopy(design, number):
    problem = explicit(*design)
    found = first_features(problem, number)
    if found is None:
        return
    path, expected = features_of(problem, number)
    assert path.status is Status.N_FEATURES
    assert set(found[0].tolist()) == set(expected.tolist())
    # all that could join by their relevance are candidates
    assert set(found[1]) >= set(np.flatnonzero(problem.linear > path.breakpoints[-2].alpha))


def wide(seed, n=40, d=300):
    rng = np.random.default_rng(seed)
    A = np.abs(rng.standard_normal((n, d))) + 0.3 * np.abs(rng.standard_normal((n, 1)))
    return A, A[:, :6].sum(axis=1) + np.abs(rng.standard_normal(n))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("number", [1, 7, 25])
def test_wide_problems_are_decided_with_few_entries(seed, number):
    A, t = wide(seed)
    problem = Counting(A.T @ A, A.T @ t, float(t @ t))
    features, candidates = first_features(problem, number)
    assert set(features.tolist()) == set(features_of(problem, number)[1].tolist())
    assert candidates.size <= 300
    assert sum(rows * cols for rows, cols in problem.asked) < 300 * 300 / 3


def test_features_leave_the_path():
    """A feature that stands for two others joins first and is dropped when both are there."""
    dropped = 0
    for seed in range(60):
        A, t = wide(seed, n=12, d=30)
        problem = ExplicitProblem(A.T @ A, A.T @ t, float(t @ t))
        path, expected = features_of(problem, 8)
        dropped += any(point.dropped for point in path.breakpoints)
        found = first_features(problem, 8)
        if found is not None:
            assert set(found[0].tolist()) == set(expected.tolist())
    assert dropped > 5


def test_ties_and_ends_are_left_to_the_homotopy():
    same = np.array([[2.0, 2.0], [2.0, 2.0]])
    assert first_features(ExplicitProblem(same, np.ones(2), 1.0), 1) is None
    one = ExplicitProblem(np.eye(3), np.array([1.0, -1.0, -2.0]), 1.0)
    assert first_features(one, 1)[0].tolist() == [0]
    assert first_features(one, 2) is None
    assert first_features(one, 4) is None


@pytest.mark.parametrize("cap", [0.3, 0.6, 0.9])
def test_features_that_are_too_similar_are_left_out(cap):
    """The same as to go on without them from the start."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A, t = wide(seed, n=50, d=40)
        A[:, 20:] = A[:, :20] + 0.4 * np.abs(rng.standard_normal((50, 20)))
        A = A - 0.9 * A.min(axis=0)  # similarities of all sizes
        G, b = A.T @ A, A.T @ t
        norms = np.sqrt(np.diag(G))
        similar = G / np.outer(norms, norms)
        similar = (similar - similar.min()) / (1 - similar.min())
        G = similar * np.outer(norms, norms)
        problem = ExplicitProblem(G, b, float(t @ t))
        found = first_features(problem, 5, cap=cap)
        if found is None:
            continue
        chosen = found[0]
        joined: list[int] = []
        rest = np.arange(40)
        while True:  # one after the other leaves, until no two on the path are too similar
            sub = ExplicitProblem(G[np.ix_(rest, rest)], b[rest], 1.0)
            path, _ = features_of(sub, 5)
            joined = rest[path.entered].tolist()
            clash = [
                k for i, k in enumerate(joined) if any(similar[k, m] > cap for m in joined[:i])
            ]
            if not clash:
                break
            rest = rest[rest != clash[0]]
        assert set(chosen.tolist()) == set(rest[path.breakpoints[-1].indices].tolist())


def test_candidates_that_tie_at_the_cut_keep_their_places(monkeypatch):
    monkeypatch.setattr(module, "_MORE", 0)
    relevance = np.r_[np.linspace(5, 4, 6), np.full(40, 3.0) - 1e-3 * (np.arange(40) > 20)]
    rng = np.random.default_rng(1)
    G = np.eye(46) + 0.01 * rng.random((46, 46))
    G = 0.5 * (G + G.T)
    problem = ExplicitProblem(G, relevance, 100.0)
    found = first_features(problem, 6)
    assert set(found[0].tolist()) == set(features_of(problem, 6)[1].tolist())
