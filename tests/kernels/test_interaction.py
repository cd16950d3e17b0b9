"""Products of centred kernels against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import InvalidInputError
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear, Matern, Polynomial, interaction
from hsiclasso.kernels.interaction import Interaction, Member, products_of_rows, turned
from tests import oracles
from tests.columns import make
from tests.kernels.cases import draw_weights, kinds, weightings

#: Kernels whose scale and values are known for any column.
SOME = [Gaussian(), Gaussian("median"), Delta(), Delta(by_count=False), Linear(), Polynomial(3),
        Laplace(), Matern()]  # fmt: skip
kernels = st.lists(st.sampled_from(SOME), min_size=2, max_size=3)


def build(rng, kernels, kinds, n, weights, observed=None):
    """An interaction of drawn columns: its kernel and the scaled columns; NaN where missing."""
    columns = np.array([make(kind, n, int(rng.integers(10_000))) for kind in kinds])
    members = []
    for column, kernel, seen in zip(
        columns, kernels, observed or [np.ones(n, dtype=bool)] * len(kernels), strict=True
    ):
        shares = None if seen.all() else weights * seen
        share = 1.0 if shares is None else shares.sum() / weights.sum()
        members.append(Member(kernel, 1, shares, share))
        used = seen & (weights > 0)
        column[~used] = column[used][0]
        if np.ptp(column) == 0:  # what varied had no weight
            column[:] = -0.5
            column[np.flatnonzero(used)[1]] = 0.5
    made = Interaction(tuple(members))
    z = columns.copy()
    shared = weights.copy()
    for seen in observed or []:
        shared[~seen] = 0.0
    scaling = made.scale(z, shared[None], joint=True)
    values = columns.copy()
    for j, seen in enumerate(observed or []):
        values[j, ~seen] = np.nan
    return made, z, values, shared, scaling


@given(
    kernels=kernels, kinds=st.lists(kinds, min_size=3, max_size=3), weighting=weightings,
    missing=st.booleans(), share=st.sampled_from([1e-3, 1e-7, 1e-12]), seed=st.integers(0, 1000),
)  # fmt: skip
def test_rows_give_the_product(kernels, kinds, weighting, missing, share, seed):
    """What rows leave out is positive semi-definite, with at most the trace that they say."""
    rng, n = np.random.default_rng(seed), 40
    weights = draw_weights(rng, n, weighting)
    observed = None
    if missing:
        observed = [rng.random(n) < 0.8 for _ in kernels]
        for seen in observed:
            seen[:4] = True
            seen[weights == 0] = True
    made, z, values, shared, _ = build(rng, kernels, kinds[: len(kernels)], n, weights, observed)
    rows, left_out = made.rows(z.copy(), share * weights.sum(), shared)
    seen = shared > 0
    expected, _ = oracles.interaction_gram(
        np.where(weights > 0, values, np.nan), made_kernels(made), weights
    )
    rest = (expected - rows.T @ rows)[np.ix_(seen, seen)]
    size = max(1.0, np.abs(expected).max()) * n
    assert np.linalg.eigvalsh(rest).min() > -1e-9 * size
    assert np.diag(rest) @ shared[seen] <= left_out + 1e-9 * size
    assert left_out <= max(1.0, np.abs(expected).max() ** 2) * 20 * share * weights.sum() + 1e-9


def made_kernels(made):
    return [one.kernel for one in made.members]


@given(
    kernels=kernels, kinds=st.lists(kinds, min_size=3, max_size=3), weighting=weightings,
    missing=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
def test_learnt_kernel_is_that_of_the_samples(kernels, kinds, weighting, missing, seed):
    rng, n = np.random.default_rng(seed), 40
    weights = draw_weights(rng, n, weighting)
    observed = None
    if missing:
        observed = [(rng.random(n) < 0.8) | (np.arange(n) < 4) | (weights == 0) for _ in kernels]
    made, z, values, shared, _ = build(rng, kernels, kinds[: len(kernels)], n, weights, observed)
    seen = shared > 0
    learnt = made.learnt(z, shared)
    assert learnt.learnt(z, shared) is learnt
    found = learnt.between(z[:, seen], z[:, seen])
    expected, _ = oracles.interaction_gram(
        np.where(weights > 0, values, np.nan), made_kernels(made), weights
    )
    expected = expected[np.ix_(seen, seen)]
    atol = 1e-9 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, atol=atol)
    np.testing.assert_allclose(learnt.diagonal(z[:, seen]), np.diag(expected), atol=atol)


def test_new_samples_against_those_it_was_learnt_on(rng):
    """K(u, x) = k(u, x) - mean k(u, .) - mean k(., x) + mean k, multiplied over the members."""
    old, new = rng.standard_normal((3, 50)), rng.standard_normal((3, 7))
    made = Interaction((Member(Gaussian(), 2), Member(Matern(), 1)))
    z = old.copy()
    scaling = made.scale(z, np.ones((1, 50)), joint=True)
    learnt = made.learnt(z, np.ones(50))
    expected = 1.0
    for part, other, kernel in (
        (new[:2], old[:2], Gaussian()), (new[2:], old[2:], Matern()),
    ):  # fmt: skip
        K, L = oracles.kernel_between(part, other, kernel), oracles.kernel_gram(other, kernel)
        centred = K - K.mean(axis=1)[:, None] - L.mean(axis=0) + L.mean()
        expected = expected * centred
    np.testing.assert_allclose(learnt.between(scaling.apply(new), z), expected, atol=1e-12)


def test_many_samples_are_compared_in_runs(rng, monkeypatch):
    z = rng.standard_normal((2, 50))
    made = Interaction((Member(Gaussian()), Member(Gaussian())))
    whole = made.learnt(z, np.ones(50)).between(z, z)
    monkeypatch.setattr(interaction, "_AT_ONCE", 7)
    np.testing.assert_allclose(made.learnt(z, np.ones(50)).between(z, z), whole, atol=1e-14)


def test_a_constant_member_makes_a_constant_interaction(rng):
    made = Interaction((Member(Gaussian()), Member(Delta())))
    block = np.array([rng.standard_normal(20), np.full(20, 3.0)])
    assert not made.scale(block, np.ones((1, 20)), joint=True).factor.any()


def test_rough_kernels_of_many_samples_are_refused(rng, monkeypatch):
    monkeypatch.setattr(interaction, "_DENSE", 30)
    made = Interaction((Member(Laplace()), Member(Laplace())))
    with pytest.raises(InvalidInputError, match="there are 40: use a smooth kernel"):
        made.rows(rng.standard_normal((2, 40)), 1e-6, np.ones(40))


def test_an_interaction_alone_has_no_centres(rng):
    made, z = Interaction((Member(Gaussian()), Member(Gaussian()))), rng.standard_normal((2, 5))
    for call in (lambda: made.between(z, z), lambda: made.diagonal(z)):
        with pytest.raises(NotImplementedError, match="when it is learnt"):
            call()
    with pytest.raises(NotImplementedError, match="several columns"):
        made.gram(z, np.ones((1, 5)))


def test_products_that_are_left_out_are_the_least(rng):
    left, right = rng.standard_normal((4, 30)), rng.standard_normal((3, 30))
    left[2:] *= 1e-2
    weights = rng.uniform(0.5, 2, 30)
    every = (left[:, None] * right[None]).reshape(-1, 30)
    trace = float((np.square(every) @ weights).sum())
    rows, left_out = products_of_rows(left, right, 1e-3 * trace, weights)
    assert 0 < left_out <= 1e-3 * trace
    kept = float((np.square(rows) @ weights).sum())
    np.testing.assert_allclose(kept + left_out, trace)
    sizes = np.square(rows) @ weights
    assert (np.diff(sizes) <= 1e-12).all()
    none, lost = products_of_rows(left, right, 2 * trace, weights)
    assert none.shape == (0, 30)
    np.testing.assert_allclose(lost, trace)


def test_turned_rows_are_orthogonal(rng):
    rows, weights = rng.standard_normal((5, 4)), rng.uniform(0.5, 2, 4)
    made = turned(rows, weights)
    assert made.shape == (4, 4)  # of five rows on four samples, one depends on the others
    np.testing.assert_allclose(made.T @ made, rows.T @ rows, atol=1e-12)
    gram = (made * weights) @ made.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)
    assert (np.diff(np.diag(gram)) <= 0).all()
    assert turned(np.zeros((2, 4)), weights).shape == (0, 4)
