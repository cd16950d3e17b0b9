"""Half-samples that share expansions, against dense matrices of each half."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso.data import as_source
from hsiclasso.dependence import Budget, Features, halves
from hsiclasso.dependence._halves_loops import energies_of_halves, energies_of_pairs, restrict
from hsiclasso.dependence.half_problem import HalfProblem
from hsiclasso.dependence.halves import can_share_halves, least_share, relate_halves
from hsiclasso.kernels import HSIC, NOCCO, Delta, Gaussian, Laplace, Samples
from hsiclasso.targets import as_target
from tests import oracles


def draw_parts(n, n_pairs=4, seed=0):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(n_pairs)]
    return [np.sort(part) for o in orders for part in (o[: n // 2], o[n // 2 : n // 2 * 2])]


def draw(n, d=40, seed=0, heavy=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, (n, d)) if heavy else rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    return X, y * np.abs(y) if heavy else y


GAUSSIAN = (Gaussian(),)


def make(X, y, kind="real", kernels=GAUSSIAN, which=None, **options):
    features = Features(
        as_source(X), kernels, Samples(len(X)), np.arange(X.shape[1]), which, **options
    )
    target = as_target(kind).prepare(y, len(X)).data.matrix(
        HSIC(), features.samples, error=1e-6, n_features=X.shape[1]
    )  # fmt: skip
    return features, target


def dense(X, L, parts):
    """Relevance (d, halves) and Gram matrices of columns that are scaled on all samples."""
    grams = np.array([oracles.gaussian_gram(x) for x in X.T])
    b = np.array([[oracles.half_relevance(K, L, part) for part in parts] for K in grams])
    return grams, b


@pytest.mark.parametrize("n", [60, 61])
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("kind", ["real", "classes"])
def test_problems_of_halves_against_dense_matrices(n, heavy, kind):
    X, y = draw(n, heavy=heavy)
    X[:, 5] = 1.0
    L = oracles.gaussian_gram(y)
    if kind == "classes":
        y = (y > np.median(y)).astype(int)
        L = oracles.delta_gram(y)
    parts = draw_parts(n)
    features, target = make(X, y, kind)
    assert can_share_halves(features, target, HSIC())
    related = relate_halves(features, target, parts, n_exact=10)
    with np.errstate(invalid="ignore"):
        grams, b = dense(X, L, parts)
    b[5] = 0
    grams[5] = 0
    noise = b.mean(axis=0)
    np.testing.assert_allclose(related.estimates, b, rtol=0.1, atol=0.05 * noise.mean())
    for h, part in enumerate(parts):
        problem = related.problem(h)
        # bounds are bounds, and not far off
        assert (problem.linear >= b[:, h] - 0.02 * noise[h]).all()
        assert (problem.linear <= 1.1 * b[:, h] + 0.1 * noise[h]).all()
        assert problem.exact[np.argmax(problem.linear)]
        every = np.arange(X.shape[1])
        problem.sharpen(every)
        assert problem.exact.all()
        assert not problem.sharpen(every)
        np.testing.assert_allclose(problem.linear, b[:, h], rtol=0.01, atol=0.01 * noise[h])
        centre = np.eye(part.size) - 1 / part.size
        flat = np.array([(centre @ K[np.ix_(part, part)] @ centre).ravel() for K in grams])
        norms = np.linalg.norm(flat, axis=1) + 1e-12
        found = problem.block(every, every) / np.outer(norms, norms)
        np.testing.assert_allclose(found, flat @ flat.T / np.outer(norms, norms), atol=5e-3)
        some = np.array([7, 0, 3])
        np.testing.assert_allclose(
            problem.diagonal(some), np.diag(problem.block(some, some)), rtol=1e-5
        )
        Lc = centre @ L[np.ix_(part, part)] @ centre
        assert problem.target_norm2 == pytest.approx(np.sum(Lc**2), rel=1e-4)


def test_a_half_without_the_far_values_of_the_target():
    X, y = draw(60)
    parts = draw_parts(60)
    _, target = make(X, y)
    assert least_share(target, parts) == pytest.approx(1, abs=0.3)
    y[7] = 1e4
    _, target = make(X, y)
    assert least_share(target, parts) < 0.1


def test_columns_of_labels_and_of_numbers():
    rng = np.random.default_rng(3)
    X, y = draw(80, d=6)
    frame = pd.DataFrame(X).rename(columns="x{}".format)
    frame["label"] = pd.Categorical(rng.choice(["a", "b", "c"], 80))
    kernels, which = (Gaussian(), Delta()), np.array([0] * 6 + [1])
    features, target = make(frame, y, kernels=kernels, which=which)
    assert can_share_halves(features, target, HSIC())
    parts = draw_parts(80)
    problem = relate_halves(features, target, parts, n_exact=7).problem(2)
    codes = frame["label"].cat.codes.to_numpy()
    L = oracles.gaussian_gram(y)
    K = oracles.delta_gram(codes)
    problem.sharpen(np.arange(7))
    expected = oracles.half_relevance(K, L, parts[2])
    assert problem.linear[6] == pytest.approx(expected, rel=1e-3)
    many = frame.assign(label=pd.Categorical([f"s{i // 2}" for i in range(80)]))
    features, target = make(many, y, kernels=kernels, which=which)
    assert not can_share_halves(features, target, HSIC())


def test_what_cannot_share_a_pass():
    X, y = draw(50, d=5)
    features, target = make(X, y)
    assert not can_share_halves(features, target, NOCCO())
    assert not can_share_halves(make(X, y, kernels=(Laplace(),))[0], target, HSIC())
    assert not can_share_halves(make(X, y, least_observed=10)[0], target, HSIC())
    weighted = Features(as_source(X), (Gaussian(),), Samples(50, np.arange(50.0)), np.arange(5))
    assert not can_share_halves(weighted, target, HSIC())


def test_results_do_not_depend_on_threads_or_memory():
    X, y = draw(64, d=150)
    features, target = make(X, y)
    parts = draw_parts(64)
    plain = relate_halves(features, target, parts, n_exact=20)
    others = (
        relate_halves(features, target, parts, n_exact=20, budget=Budget(n_threads=3)),
        relate_halves(features, target, parts, n_exact=20, budget=Budget(factors=1)),
    )
    every = np.arange(150)
    for other in others:
        np.testing.assert_array_equal(plain.estimates, other.estimates)
        for h in (0, 5):
            first, second = plain.problem(h), other.problem(h)
            np.testing.assert_allclose(first.linear, second.linear, rtol=1e-5)
            np.testing.assert_allclose(
                first.block(every, every[:7]), second.block(every, every[:7]), rtol=1e-5
            )


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(halves, "_BLOCK", 12 * 60 * 10)
    X, y = draw(60, d=45)
    features, target = make(X, y)
    told = []
    relate_halves(
        features, target, draw_parts(60), n_exact=5, progress=lambda *call: told.append(call)
    )
    assert told[-1] == ("relevance", 45, 45)
    assert len(told) == 5


def test_halves_that_overlap_are_refused():
    X, y = draw(40, d=3)
    features, target = make(X, y)
    parts = [np.arange(20), np.arange(10, 30)]
    with pytest.raises(ValueError, match="share a sample, or leave more than one"):
        relate_halves(features, target, parts, n_exact=2)


def test_a_problem_grows_with_what_is_asked_for():
    X, y = draw(60, d=80)
    features, target = make(X, y)
    related = relate_halves(features, target, draw_parts(60), n_exact=5)
    problem: HalfProblem = related.problem(0)
    before = problem.linear.copy()
    last = int(np.argmin(np.where(problem.linear > 0, problem.linear, np.inf)))
    assert not problem.exact[last]
    assert problem.sharpen(np.array([last]))
    assert problem.exact[last]
    assert problem.linear[last] <= before[last]
    assert len(related) == 8


def test_loops_against_numpy():
    rng = np.random.default_rng(0)
    k, height, b, r = 3, 4, 5, 2
    cross = rng.standard_normal((k, height, b, r + 1)).astype(np.float32)
    ones = rng.standard_normal((k, height, b)).astype(np.float32)
    whole = rng.standard_normal((k, height, r + 1)).astype(np.float32)
    means = rng.standard_normal((2 * b, r)).astype(np.float32)
    left = rng.standard_normal((k, height, b, r + 1)).astype(np.float32)
    for rest in (np.zeros((0, 0, 0, 0), dtype=np.float32), left):
        gone = rest if rest.size else np.zeros_like(left)
        first = cross[..., :r] - ones[..., None] * means[::2]
        there = whole[:, :, None, r] - ones - gone[..., r]
        second = whole[:, :, None, :r] - cross[..., :r] - gone[..., :r]
        second = second - there[..., None] * means[1::2]
        expected = np.stack([np.square(part).sum(axis=(1, 3)) for part in (first, second)], axis=2)
        out = np.ones((k, 2 * b))
        energies_of_halves(cross, ones, means, whole, rest, out)
        np.testing.assert_allclose(out, 1 + expected.reshape(k, -1), rtol=1e-4)
    products = rng.standard_normal((6, 5)).astype(np.float32)
    starts, ends = np.array([0, 1, 4, 6]), np.array([0, 3, 5])
    out = np.empty((3, 2))
    energies_of_pairs(products, starts, ends, out)
    expected = np.add.reduceat(np.add.reduceat(products**2, starts[:-1]), ends[:-1], axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    stack = rng.standard_normal((4, 3, 9)).astype(np.float32)
    samples, heights = np.array([0, 2, 8]), np.array([3, 1])
    rows = np.empty((4, 3), dtype=np.float32)
    restrict(stack, np.array([2, 0]), heights, samples, rows)
    some = np.concatenate([stack[2][:, samples], stack[0][:1, samples]])
    np.testing.assert_allclose(rows, some - some.mean(axis=1, keepdims=True), atol=1e-6)
