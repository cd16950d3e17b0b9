"""Targets of classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso.kernels import Delta, Gaussian, Samples
from hsiclasso.targets import Classes
from tests import oracles
from tests.targets.compare import check, every_measure
from tests.targets.tables import CODES, LEVELS, MORE_CODES, TEXT, N


@every_measure
@pytest.mark.parametrize("by_count", [True, False])
def test_delta_kernel(by_count, measure):
    data = Classes(kernel=Delta(by_count)).prepare(TEXT, N).data
    check(data, oracles.kernel_gram(CODES, Delta(by_count)), measure, Samples(N))


@every_measure
def test_columns_are_averaged(measure):
    K = np.mean([oracles.delta_gram(CODES), oracles.delta_gram(MORE_CODES)], axis=0)
    frame = pd.DataFrame({"a": TEXT, "b": MORE_CODES})
    for y in (frame, np.c_[CODES, MORE_CODES], np.c_[TEXT, LEVELS[MORE_CODES]]):
        check(Classes().prepare(y, N).data, K, measure, Samples(N))


def test_labels_do_not_matter():
    for names in (["zebra", "ant", "mole"], [7, -1, 3], [0.5, 1.5, -2.5]):
        values = Classes().prepare(np.array(names)[CODES], N).data.values[0]
        np.testing.assert_array_equal(values[:, None] == values, CODES[:, None] == CODES)


def test_other_kernels_see_codes_in_alphabetic_order():
    data = Classes(kernel="gaussian").prepare(TEXT, N).data  # high, low, mid
    np.testing.assert_array_equal(data.values[0], np.array([1, 2, 0])[CODES])
    assert data.kernel == Gaussian()


def test_numbers_may_be_classes():
    y = np.repeat(np.linspace(0, 1, 3), 2)
    assert Classes().prepare(y, 6).data.values.tolist() == [[0, 0, 1, 1, 2, 2]]
