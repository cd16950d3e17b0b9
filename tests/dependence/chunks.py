"""What passes by chunks are compared with."""

from __future__ import annotations

import numpy as np

#: Size of the table of the fixture `data`.
N, D = 300, 60


def assert_same(found, expected):
    """Assert that two selections agree, whoever ran the chunks."""
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.relevance_, expected.relevance_, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found.n_observed_, expected.n_observed_)
    assert found.result_.certificate.duality_gap <= 1e-9
