"""Real targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian, Samples
from hsiclasso.targets import Real
from tests import oracles
from tests.targets.compare import check, every_measure
from tests.targets.tables import OUTPUTS, REAL


@every_measure
def test_values_and_ranks(measure):
    samples = Samples(len(REAL))
    check(Real().prepare(REAL, 48).data, oracles.gaussian_gram(REAL), measure, samples)
    ranks = Real(transform="rank").prepare(REAL, 48).data
    check(ranks, oracles.gaussian_gram(rankdata(REAL)), measure, samples)
    several = Real(transform="rank").prepare(OUTPUTS, 48).data
    K = oracles.kernel_gram(rankdata(OUTPUTS, axis=0).T, Gaussian())
    check(several, K, measure, samples)


def test_ties_have_mid_ranks():
    prepared = Real(transform="rank").prepare([3.0, 1e9, -5.0, 3.0], 4)
    np.testing.assert_array_equal(prepared.data.values, [[2.5, 4, 1, 2.5]])


def test_unknown_transforms():
    message = r"transform='log' is unknown: choose None, 'auto', 'rank' or 'normal'"
    with pytest.raises(InvalidInputError, match=message):
        Real(transform="log").prepare(REAL, 48)
