"""Values of samples by name."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

from hsiclasso.data import RowSubset, as_source
from hsiclasso.data.annotations import Annotations, RankedLabels, as_labels
from hsiclasso.data.dataset import assemble
from hsiclasso.data.layout import Roles


def test_values_are_read_once_when_they_are_asked_for():
    read = []

    def values(name):
        read.append(name)
        return np.arange(5)

    table = as_source(np.zeros((5, 2)))
    table.annotations = Annotations(["age", "sex", "site"], values)
    data = assemble("table", table, Roles(("age",)))
    rows = RowSubset(data.source, [4, 0])
    assert read == ["age"]
    assert list(rows.annotations) == ["sex", "site"]
    assert len(rows.annotations) == 2
    for _ in range(2):
        assert rows.annotations["sex"].tolist() == [4, 0]
    assert read == ["age", "sex"]
    with pytest.raises(KeyError, match="age"):
        _ = rows.annotations["age"]


def test_values_are_not_pickled():
    notes = Annotations(["a"], operator.methodcaller("encode"))
    assert notes["a"] == b"a"
    assert pickle.loads(pickle.dumps(notes))._known == {}


def test_labels():
    codes = np.array([1, 0, -1], dtype=np.int8)
    assert as_labels(codes, [7, 8]).tolist() == ["8", "7", None]
    ordered = as_labels(codes, ["low", "high"], ordered=True)
    assert isinstance(ordered, RankedLabels)
    np.testing.assert_array_equal(ordered[[2, 0]].codes, [np.nan, 1.0])
