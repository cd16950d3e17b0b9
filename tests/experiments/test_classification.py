"""The studies on real data: what they are made of, and one split of one set."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import splits
from experiments.catalogue import CATALOGUE
from experiments.classification import EPSILON, FIGURE3, FIGURE4, GAUSSIAN_OUTPUT, TABLES, at_width
from experiments.contenders import CLASSES, REAL, Contender
from experiments.datasets import default_folder
from experiments.printed import METHODS
from experiments.regression import FIGURE5, FIGURE5_WIDTHS
from experiments.splits import SplitStudy
from experiments.tidy import Task


@pytest.mark.parametrize("study", [TABLES, FIGURE3, FIGURE4, EPSILON, FIGURE5, FIGURE5_WIDTHS])
def test_sets_of_a_study_have_one_kind_of_target(study):
    kind = REAL if study in (FIGURE5, FIGURE5_WIDTHS) else CLASSES
    assert {CATALOGUE[name].kind for name in study.sets} == {kind}


def test_the_papers_numbers_of_splits_and_methods():
    assert TABLES.runs == FIGURE3.runs == FIGURE4.runs == FIGURE5.runs == 100
    assert set(METHODS) <= set(TABLES.methods)
    assert {method for method, _ in TABLES.left_out} == {"FVM"}


@pytest.fixture(scope="module")
def images():
    name = "warpAR10P"
    if not (default_folder() / f"{name}.npz").exists():
        pytest.skip(f"real dataset {name} is not beside the checkout (../shared/data)")
    return name


@pytest.fixture(scope="module")
def selected(images):
    """Accuracy of HSIC Lasso at the paper's settings, by number of features."""
    return _accuracy(TABLES, images, "HSIC Lasso")


def _accuracy(study, name, method):
    task = Task(study.name, name, method, 104, 2400, 0)
    rows = study.perform(task, default_folder())
    return {row.m: row.value for row in rows if row.metric == "accuracy"}


def test_selected_pixels_tell_faces_apart_better_than_any_pixels(images, selected):
    anything = Contender(lambda X, y, m, kind, seed: np.arange(0, X.shape[1], X.shape[1] // m)[:m])
    random = _accuracy(SplitStudy("s", (images,), {"any": anything}), images, "any")
    assert selected[50] > 0.8
    assert selected[50] > random[50] + 0.1
    assert np.mean(list(selected.values())) > np.mean(list(random.values())) + 0.1


def test_labels_as_numbers_under_a_gaussian_kernel_are_worse(images, selected):
    """The paper's Figure 4, on one split."""
    gaussian = _accuracy(FIGURE4, images, GAUSSIAN_OUTPUT)
    assert np.mean(list(selected.values())) > np.mean(list(gaussian.values()))


def test_another_width_selects_other_features(images):
    data = splits._stored(images, default_folder())
    narrow = FIGURE3.methods[at_width(0.25)].rank(data.X, data.y, 5, CLASSES, 0)
    assert set(narrow) != set(TABLES.methods["HSIC Lasso"].rank(data.X, data.y, 5, CLASSES, 0))
