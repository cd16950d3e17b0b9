from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from hsiclasso import HSICLasso, InvalidInputError
from hsiclasso.embedding import Delta, Gaussian
from hsiclasso.selectors.targets import TargetOptions, prepare_target

CASES = [
    (["a", "b", "a", "b", "b", "a"], "classification"),
    ([True, False, True, False, True, True], "classification"),
    ([0, 1, 0, 1, 1, 0], "classification"),
    ([1.0, 2.0, 1.0, 2.0, 2.0, 1.0], "classification"),
    ([1, 2, 3, 4, 5, 6], "regression"),
    ([1.5, 2.0, 1.5, 2.0, 2.0, 1.5], "regression"),
    (list(np.arange(300) % 60), "regression"),
    (list(np.arange(300) % 40), "classification"),
    (pd.Categorical(["u", "v", "u", "v", "w", "w"]), "classification"),
    (np.array(["1", "2", "1", "2", "1", "2"], dtype=object), "classification"),
]


@pytest.mark.parametrize(("y", "task"), CASES, ids=str)
def test_task_is_guessed(y, task):
    prepared = prepare_target(pd.Series(y), len(y), TargetOptions())
    assert prepared.task == task
    assert isinstance(prepared.kernel, Delta if task == "classification" else Gaussian)


def test_task_can_be_told():
    y = [0, 1, 2, 0, 1, 2]
    regression = prepare_target(y, 6, TargetOptions(task="regression", width=2.0))
    assert regression.kernel == Gaussian(2.0)
    assert regression.values.tolist() == y
    classes = prepare_target(np.linspace(0, 1, 6), 6, TargetOptions(task="classification"))
    assert classes.values.tolist() == [0, 1, 2, 3, 4, 5]


def test_kernel_can_be_told():
    y = ["a", "b", "a", "b", "b", "a"]
    assert prepare_target(y, 6, TargetOptions(kernel="gaussian")).kernel == Gaussian(1.0)


def test_rank_transform():
    y = np.array([3.0, 1e9, -5.0, 3.0])
    prepared = prepare_target(y, 4, TargetOptions(task="regression", transform="rank"))
    np.testing.assert_array_equal(prepared.values, rankdata(y))


def test_rank_transform_of_classes_is_refused():
    with pytest.raises(InvalidInputError, match="the task is classification"):
        prepare_target(["a", "b", "a"], 3, TargetOptions(transform="rank"))


def test_text_is_no_real_target():
    with pytest.raises(InvalidInputError, match="needs a numeric y"):
        prepare_target(["a", "b", "a"], 3, TargetOptions(task="regression"))


def test_labels_of_classes_do_not_matter(rng):
    X = rng.standard_normal((60, 8))
    codes = (X[:, 2] > 0).astype(int) + (X[:, 5] > 0.5)
    by_code = HSICLasso(3).fit(X, codes)
    by_name = HSICLasso(3).fit(X, np.array(["zebra", "ant", "mole"])[codes])
    np.testing.assert_allclose(by_code.coef_, by_name.coef_, rtol=1e-10)
    assert by_name.result_.task == "classification"
