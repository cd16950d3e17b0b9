"""The numbers behind the pictures."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.plots.smoothing import smooth, survival_curve, thin


class TestSmooth:
    def test_follows_a_bend(self, rng):
        x = rng.uniform(-2, 2, 2000)
        points, values = smooth(x, x**2 + 0.1 * rng.standard_normal(2000))
        inside = np.abs(points) < 1.5
        assert np.abs(values - points**2)[inside].max() < 0.25

    @pytest.mark.parametrize("shift", [0.0, 1e6])
    def test_of_a_line_is_the_line(self, rng, shift):
        x = rng.standard_normal(100)
        points, values = smooth(x + shift, 3 * x - 1)
        assert np.allclose(values, 3 * (points - shift) - 1, atol=1e-6)

    def test_of_few_values(self):
        assert smooth(np.array([0.0, 1.0, 1.0]), np.arange(3.0))[0].size == 0
        x = np.repeat([0.0, 1.0, 2.0, 50.0], 30)
        assert np.isfinite(smooth(x, np.arange(120.0))[1]).all()


class TestSurvivalCurve:
    def test_is_the_product_over_events(self, rng):
        time = rng.integers(1, 12, 80).astype(float)
        event = (rng.random(80) < 0.6).astype(float)
        at, left = survival_curve(time, event)
        share = 1.0
        for moment, value in zip(at[1:], left[1:], strict=True):
            share *= 1 - np.sum((time == moment) & (event > 0)) / np.sum(time >= moment)
            assert value == pytest.approx(share)
        assert (at[0], left[0]) == (0.0, 1.0)

    def test_without_events_nothing_falls(self):
        assert survival_curve(np.ones(3), np.zeros(3))[1].tolist() == [1.0]


def test_thinning_is_always_the_same():
    assert np.array_equal(thin(5000), thin(5000))
    assert np.unique(thin(5000, 100)).size == 100
