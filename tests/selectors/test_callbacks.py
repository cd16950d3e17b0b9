"""Progress of a fit for the callbacks of scikit-learn."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from hsiclasso import EmbeddingLasso, HSICLasso, NOCCOLasso, make_data1
from hsiclasso.selectors.callbacks import Followed

needs_callbacks = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None,
    reason="scikit-learn before 1.9 has no callbacks",
)
WITHOUT = """
import sys
import sklearn.feature_selection  # what scikit-learn itself needs of it is loaded
if hasattr(sklearn, "callback"):
    del sklearn.callback
    sys.modules["sklearn.callback"] = None
from hsiclasso import HSICLasso, make_data1
from hsiclasso.selectors import callbacks
assert callbacks.callback is None
X, y, causal = make_data1(60, 12, random_state=0)
assert len(HSICLasso(2).fit(X, y).selected_) == 2
"""


def test_scikit_learn_without_callbacks():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


class Recorder:
    """Keeps the tasks that began and ended, by the names of their stages."""

    def __init__(self):
        self.began, self.ended, self.is_down = [], [], False

    def setup(self, estimator, context):
        self.is_down = False

    def on_fit_task_begin(self, estimator, context):
        self.began.append((context.parent is None, context.max_subtasks, context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.parent is None, context.max_subtasks, context.task_name))

    def teardown(self, estimator, context):
        self.is_down = True


@pytest.fixture(scope="module")
def data():
    return make_data1(120, 60, random_state=0)[:2]


@needs_callbacks
@pytest.mark.parametrize(
    ("selector", "stages"),
    [
        (HSICLasso(3), ["relevance", "path"]),
        (NOCCOLasso(3), ["relevance", "path"]),
        (EmbeddingLasso(3), ["relevance", "path"]),
        (HSICLasso(3, interactions="all"), ["relevance", "pairs", "path"]),
        (HSICLasso("auto"), ["relevance", "path", "tests"]),
    ],
    ids=str,
)
def test_stages_are_tasks_and_change_nothing(data, selector, stages):
    recorder, told = Recorder(), []
    plain = clone(selector).fit(*data)
    followed = clone(selector).set_callbacks(recorder)
    followed.fit(*data, progress=lambda *report: told.append(report))
    np.testing.assert_array_equal(followed.coef_, plain.coef_)
    assert recorder.is_down
    assert recorder.began[0] == recorder.ended[-1] == (True, None, "fit")
    assert sorted(recorder.began, key=str) == sorted(recorder.ended, key=str)
    order = [name for _, n_parts, name in recorder.began if n_parts]
    assert [name for name in dict.fromkeys(order) if name in stages] == stages
    assert {name for name, *_ in told} == set(order)  # a function is still told, too


@needs_callbacks
def test_a_stage_has_at_most_a_hundred_tasks(data):
    recorder = Recorder()
    selector = HSICLasso().set_callbacks(recorder)
    with Followed(selector, None) as followed:
        for done in (10, 10, 999, 500, 1000):  # a stage may report less than before
            followed("relevance", done, 1000)
        followed("path", 2, 2)
        followed("path", 0, 0)
    names = [name for _, n_parts, name in recorder.ended if n_parts == 0]
    assert names.count("relevance") == 100
    assert names.count("path") == 2


@needs_callbacks
def test_a_fit_that_fails_takes_callbacks_down(data):
    recorder = Recorder()
    with pytest.raises(ValueError, match="n_features_to_select"):
        HSICLasso(-1).set_callbacks(recorder).fit(*data)
    assert recorder.is_down
    assert (True, None, "fit") not in recorder.ended


@needs_callbacks
def test_a_copy_can_be_stored(data):
    selector = HSICLasso(3).set_callbacks(Recorder()).fit(*data)
    for made in (clone(selector).fit(*data), pickle.loads(pickle.dumps(selector))):
        np.testing.assert_array_equal(made.coef_, selector.coef_)
