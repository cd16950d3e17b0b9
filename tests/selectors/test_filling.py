"""Features that make up the number asked for if the path ends before it."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import FewerFeaturesWarning, HSICLasso, InvalidInputError, NOCCOLasso
from hsiclasso.selectors import filling
from tests import oracles
from tests.selectors.dense import MEASURES, feature_matrices, selector_of

pytestmark = pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")


def collinear(seed, n=40, d=30):
    """Columns like spectra: each is nearly the one beside it."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((n, d)), axis=1) + 0.05 * rng.standard_normal((n, d))
    return X, X[:, d // 3] - X[:, d // 2] + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("cap", [0.5, 1.0])
def test_the_rule(measure, cap):
    X, y = collinear(0)
    selector = selector_of(measure, 20, max_redundancy=cap).fit(X, y)
    result = selector.result_
    on_path = [f.index for f in result.features if f.origin == "path"]
    filled = [f.index for f in result.features if f.origin == "filled"]
    assert on_path
    assert len(filled) >= 5
    S = oracles.similarity(feature_matrices(X.T, measure=measure))
    assert filled == oracles.filling(selector.relevance_, S, on_path, len(filled))
    assert (selector.coef_[filled] == 0).all()


def test_copies_come_last(rng):
    X = rng.standard_normal((60, 6))
    y = X[:, 0] ** 2
    table = np.column_stack([X[:, 0]] * 5 + [X[:, 1:]])
    selected = HSICLasso(6).fit(table, y).selected_
    assert set(range(5, 10)) < set(selected.tolist())
    assert HSICLasso(8).fit(table, y).selected_[-2:].tolist() == [1, 2]  # ties go to the first


@pytest.mark.parametrize("family", [HSICLasso, NOCCOLasso])
def test_fill_or_not(family):
    X, y = collinear(1)
    full, short = family(25).fit(X, y), family(25, fill=False).fit(X, y)
    assert full.selected_.size == 25
    assert short.selected_.size == full.result_.n_on_path < 25
    assert full.selected_[: short.selected_.size].tolist() == short.selected_.tolist()
    with pytest.warns(FewerFeaturesWarning, match="features selected of 25 asked for"):
        family(25, fill=False).fit(X, y)
    with pytest.raises(InvalidInputError, match="fill='no'"):
        family(25, fill="no").fit(X, y)


@pytest.mark.parametrize("family", [HSICLasso, NOCCOLasso])
@pytest.mark.parametrize("cap", [0.4, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_every_smaller_number_is_that_of_a_fresh_fit(family, cap, seed):
    """On the path, and beyond its end."""
    X, y = collinear(seed, n=30, d=24)
    selector = family(24, max_redundancy=cap).fit(X, y)
    for size in range(1, 25):
        fresh = family(size, max_redundancy=cap).fit(X, y)
        assert selector.selected_of_size(size).tolist() == fresh.selected_.tolist(), size


def test_only_features_near_the_top_are_compared(monkeypatch, rng):
    """A score only falls: features of little relevance need no entries of G."""
    X = rng.standard_normal((100, 2000))
    y = X[:, 0] + X[:, 1]
    table = np.column_stack([X, X[:, 0] + 0.01 * rng.standard_normal(100)])
    selector = HSICLasso(5, alpha=0.0, fill=False).fit(table, y)  # until nothing is left
    compared = []
    compare = filling._Nearest.compare

    def counting(self, some):
        compared.extend(some.tolist())
        compare(self, some)

    monkeypatch.setattr(filling._Nearest, "compare", counting)
    from hsiclasso.data import as_dataset
    from hsiclasso.selectors.pipeline import select

    problem = select(HSICLasso(5), as_dataset(table, y).source, y).problem
    found = filling.fill_up(problem, selector.selected_[:2], 3, np.ones(2001, dtype=bool))
    assert found.size == 3
    assert 0 < len(set(compared)) < 500


def test_fewer_than_asked_if_there_are_no_others(rng):
    X = np.column_stack([rng.standard_normal((50, 2)), np.ones(50)])
    with pytest.warns(match="do not vary"):
        selector = HSICLasso(3, exclude=[1]).fit(X[:, [0, 1, 2, 0]], X[:, 0])
    assert sorted(selector.selected_) == [0, 3]
