"""Targets of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Delta, Samples
from hsiclasso.targets import Labels
from tests import oracles
from tests.targets.compare import check, every_measure
from tests.targets.tables import LABELS, N

FORMS = [np.array, sparse.csr_matrix, sparse.coo_array, pd.DataFrame, pl.DataFrame]


@every_measure
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.__module__}.{form.__name__}")
def test_labels_are_averaged(form, measure):
    K = np.mean([oracles.delta_gram(label) for label in LABELS.T], axis=0)
    check(Labels().prepare(form(LABELS), N).data, K, measure, Samples(N))


@every_measure
def test_labels_together(measure):
    data = Labels(outputs="joint").prepare(LABELS == 1, N).data
    check(data, oracles.kernel_gram(LABELS.T, Delta()), measure, Samples(N))


def test_one_label_is_a_class():
    with pytest.raises(InvalidInputError, match=r"y has one column: use target='classes'"):
        Labels().prepare([0, 1, 1], 3)


@pytest.mark.parametrize("y", [[[0, 2], [1, 1], [0, 1]], [["a", "b"], ["b", "b"], ["a", "a"]]])
def test_labels_are_zeros_and_ones(y):
    with pytest.raises(InvalidInputError, match="needs zeros and ones, one column per label: use"):
        Labels().prepare(y, 3)
