"""Targets of counts."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Samples
from hsiclasso.targets import Counts
from tests import oracles
from tests.targets.compare import check, every_measure
from tests.targets.tables import COUNTS, N


@every_measure
def test_roots(measure):
    K = oracles.gaussian_gram(2 * np.sqrt(COUNTS + 3 / 8))
    for y in (COUNTS, COUNTS.astype(float), COUNTS.astype(object)):
        check(Counts().prepare(y, N).data, K, measure, Samples(N))


@pytest.mark.parametrize("value", [-1.0, 1.5])
def test_counts_are_whole_and_not_negative(value):
    message = f"y has the value {value}, but counts are whole numbers >= 0: use target='real'"
    with pytest.raises(InvalidInputError, match=message):
        Counts().prepare([value, 3, 2], 3)
