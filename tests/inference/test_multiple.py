"""Adjusted p-values, against SciPy and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from hsiclasso.errors import InvalidInputError
from hsiclasso.inference import adjust

p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.05]), max_size=30)


@given(p=p_values, method=st.sampled_from(["bh", "by"]), more=st.integers(0, 20))
def test_false_discovery_rates_are_those_of_scipy(p, method, more):
    every = np.append(p, np.ones(more))
    expected = false_discovery_control(every, method=method)[: len(p)] if every.size else p
    found = adjust(p, method, n_tests=every.size)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


@given(p=p_values, level=st.floats(0.001, 0.5), more=st.integers(0, 20))
def test_family_wise_adjustment_is_the_step_down_test(p, level, more):
    m, found = len(p) + more, []
    for step, k in enumerate(np.argsort(p, kind="stable")):
        if p[k] * (m - step) > level:
            break
        found.append(k)
    holm = adjust(p, "holm", n_tests=m)
    assert sorted(found) == np.flatnonzero(holm <= level).tolist()
    bonferroni = adjust(p, "bonferroni", n_tests=m)
    np.testing.assert_allclose(bonferroni, np.minimum(1, m * np.array(p)))
    assert (holm <= bonferroni).all()


@pytest.mark.parametrize("bad", [[0.5, np.nan], [-0.1], [1.1], [[0.1]]])
def test_what_is_no_p_value_is_refused(bad):
    with pytest.raises(InvalidInputError, match="p_values"):
        adjust(bad)


def test_wrong_options_are_refused():
    with pytest.raises(InvalidInputError, match="method='fdr' is unknown: choose 'bh'"):
        adjust([0.1], "fdr")
    with pytest.raises(InvalidInputError, match=r"n_tests=1, but .* p-values \(2\)"):
        adjust([0.1, 0.2], n_tests=1)
