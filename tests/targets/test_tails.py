"""Heavy tails of a real target: when they are heavy, and what each selector does by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis

from hsiclasso import NHSIC, Auto, EmbeddingLasso, HSICLasso, NOCCOLasso, Real, make_data2
from hsiclasso.targets.values import tail_weight
from tests.selectors.dense import assert_differs, assert_same


@given(st.integers(0, 10_000), st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_tail_weight_is_the_excess_kurtosis(seed, shift, scale):
    x = np.random.default_rng(seed).standard_t(3, 40)
    assert tail_weight(x, np.ones(40)) == pytest.approx(kurtosis(x), abs=1e-9)
    moved = tail_weight(shift + scale * x, np.full(40, 7.0))
    assert moved == pytest.approx(kurtosis(x), abs=1e-6 * (1 + (shift / scale) ** 2))


def test_a_weight_counts_samples():
    x = np.array([1.0, 2.0, 5.0, -3.0])
    twice = tail_weight(x, np.array([1.0, 2.0, 1.0, 3.0]))
    assert twice == pytest.approx(kurtosis(np.repeat(x, [1, 2, 1, 3])))
    assert tail_weight(np.ones(3), np.ones(3)) == 0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_powers_of_huge_and_tiny_numbers_stay_finite(scale):
    for x in (np.array([0.1, -0.5, 2.0, 0.3]), np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])):
        shares = np.ones(x.size)
        assert tail_weight(scale * x, shares) == pytest.approx(kurtosis(x))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.2 * rng.standard_normal(80)


@pytest.mark.parametrize("measure", ["hsic", "nhsic", NHSIC()])
def test_hsic_takes_normal_scores_of_heavy_tails_only(measure, table):
    X, y = table
    heavy = np.sign(y) * np.abs(y) ** 4
    assert kurtosis(y) < 3 < kurtosis(heavy)
    for values, transform in ((y, None), (heavy, "normal")):
        default = HSICLasso(4, measure=measure).fit(X, values)
        expected = HSICLasso(4, measure=measure, target=Real(transform=transform)).fit(X, values)
        assert_same(default, expected)
        assert_same(HSICLasso(4, measure=measure, target="real").fit(X, values), expected)
    raw = HSICLasso(4, measure=measure, target=Auto(transform=None)).fit(X, heavy)
    assert_differs(HSICLasso(4, measure=measure).fit(X, heavy), raw)


def test_each_output_has_its_own_tails(table):
    X, y = table
    outputs = np.column_stack([y, np.exp(3 * y)])
    default = HSICLasso(4).fit(X, outputs)
    scores = HSICLasso(4, target=Real(transform="normal")).fit(X, outputs[:, 1]).result_
    alone = HSICLasso(4).fit(X, outputs[:, 1]).result_
    assert alone.features == scores.features
    assert_differs(default, HSICLasso(4, target=Real(transform="normal")).fit(X, outputs))
    assert_differs(default, HSICLasso(4, target=Real(transform=None)).fit(X, outputs))


def test_nocco_takes_ranks_and_embedding_lasso_normal_scores(table):
    X, y = table
    for family, transform in ((NOCCOLasso, "rank"), (EmbeddingLasso, "normal")):
        default = family(4).fit(X, y)
        assert_same(default, family(4, target=Real(transform=transform)).fit(X, y))
        assert_differs(default, family(4, target=Real(transform=None)).fit(X, y))


@pytest.mark.parametrize("family", [HSICLasso, NOCCOLasso])
def test_it_finds_more_of_a_heavy_tailed_design(family):
    found = {}
    for transform in ("auto", None):
        target = Real(transform=transform)
        draws = (make_data2(100, 100, random_state=seed) for seed in range(6))
        found[transform] = sum(
            len(set(causal) & set(family(3, target=target).fit(X, y).selected_))
            for X, y, causal in draws
        )
    assert found["auto"] > found[None]
