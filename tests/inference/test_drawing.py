"""Samples of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.halves import check_classes, draw_rows


@given(st.integers(8, 60), st.integers(1, 5), st.integers(0, 100))
def test_halves_share_nothing_and_have_the_classes(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(3 * n, n, replace=False))
    classes = rng.integers(0, n_classes, n)
    for given_classes in (None, classes):
        parts = draw_rows("complementary_pairs", rows, given_classes, 4, rng)
        assert len(parts) == 8
        for first, second in zip(parts[::2], parts[1::2], strict=True):
            assert first.size == second.size == n // 2
            assert not np.intersect1d(first, second).size
            assert np.isin(first, rows).all()
            if given_classes is None:
                continue
            for label in np.unique(classes):
                total = np.count_nonzero(classes == label)
                for part in (first, second):
                    own = np.count_nonzero(classes[np.searchsorted(rows, part)] == label)
                    assert total // 2 <= own <= total // 2 + 1 or total == 1


def test_bootstrap_samples_keep_the_sizes_of_classes():
    classes = np.repeat([0, 1], [5, 15])
    parts = draw_rows("bootstrap", np.arange(20), classes, 3, np.random.default_rng(0))
    assert len(parts) == 6
    assert all(np.count_nonzero(part < 5) == 5 and part.size == 20 for part in parts)
    assert any(np.unique(part).size < 20 for part in parts)


def test_every_sample_is_drawn_equally_often():
    parts = draw_rows("complementary_pairs", np.arange(9), None, 900, np.random.default_rng(0))
    times = np.bincount(np.concatenate(parts), minlength=9) / 900
    np.testing.assert_allclose(times, 8 / 9, atol=0.04)


def test_too_few_samples():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="n_samples=7 is too few for half-samples"):
        draw_rows("complementary_pairs", np.arange(7), None, 2, rng)
    with pytest.raises(InvalidInputError, match="a class with 1 sample, but each half-sample"):
        check_classes(np.array([0] * 9 + [1]))
    check_classes(np.repeat([0, 1], 2))
