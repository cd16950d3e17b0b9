"""Ordinal targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from hsiclasso.kernels import Samples
from hsiclasso.targets import Ordinal
from tests import oracles
from tests.targets.compare import check, every_measure
from tests.targets.tables import CODES, ORDERED, TEXT, N

FORMS = {
    "numbers": 10.0**CODES,
    "category": pd.Categorical(TEXT, dtype=ORDERED),
    "series": pd.Series(TEXT, dtype=ORDERED),
    "column of a frame": pd.Series(TEXT, dtype=ORDERED).to_frame("grade"),
}


@every_measure
@pytest.mark.parametrize("form", FORMS)
def test_mid_ranks(form, measure):
    K = oracles.gaussian_gram(rankdata(CODES))
    check(Ordinal().prepare(FORMS[form], N).data, K, measure, Samples(N))


def test_only_the_order_matters():
    ranks = Ordinal().prepare([1, 5, 5, 1000], 4).data.values
    np.testing.assert_array_equal(ranks, [[1, 2.5, 2.5, 4]])
