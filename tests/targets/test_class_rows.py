"""Targets of many classes: sums by class give what products with rows give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hsiclasso import (
    EmbeddingLasso,
    HSICLasso,
    NOCCOLasso,
    StabilitySelection,
    hsic_scan,
)
from hsiclasso.kernels import HSIC, NHSIC, Delta, Samples
from hsiclasso.targets import Classes, values
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.matrix import FactoredTarget

N, D = 700, 12


def draw(n_classes, n=N, d=D, seed=0):
    """A table with some columns that depend on the classes, which have different sizes."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    X = rng.standard_normal((n, d))
    for j in range(4):
        X[:, 3 * j] += 3 * ((y * (j + 3)) % n_classes) / n_classes
    return X, np.array([f"c{k}" for k in y]), rng


def weighted(rng, n=N):
    """Some samples have no weight."""
    weights = 0.2 + rng.random(n)
    weights[rng.random(n) < 0.1] = 0.0
    return weights


@pytest.fixture
def way(monkeypatch):
    """Choose how a target of classes is stored, however many there are."""

    def choose(by_class):
        monkeypatch.setattr(values, "MANY_CLASSES", 2 if by_class else 10**9)

    return choose


def matrix_of(y, samples, measure, kernel="auto"):
    data = Classes(kernel).prepare(y, y.size).data
    return data.matrix(measure, samples, error=1e-6, n_features=1)


SAMPLES = {
    "plain": lambda rng: Samples(N),
    "weights": lambda rng: Samples(N, weighted(rng)),
    "covariates": lambda rng: Samples(N, None, rng.standard_normal((2, N))),
    "both": lambda rng: Samples(N, weighted(rng), rng.standard_normal((2, N))),
}


@pytest.mark.parametrize("kernel", ["auto", Delta(by_count=False)], ids=["counted", "plain"])
@pytest.mark.parametrize("measure", [HSIC(), NHSIC()], ids=["hsic", "nhsic"])
@pytest.mark.parametrize("samples", SAMPLES)
def test_the_matrix_is_the_same(way, samples, measure, kernel):
    _, y, rng = draw(90)
    samples = SAMPLES[samples](rng)
    way(by_class=True)
    target = matrix_of(y, samples, measure, kernel)
    way(by_class=False)
    expected = matrix_of(y, samples, measure, kernel)
    rows, known = target.rows, expected.whole[0]
    assert isinstance(rows, ClassRows)
    assert not isinstance(expected.rows, ClassRows)
    T = known.T @ known
    size = np.abs(T).max()
    np.testing.assert_allclose(rows.unsplit().T @ rows.unsplit(), T, rtol=0, atol=1e-10 * size)
    assert target.norm2 == pytest.approx(expected.norm2, rel=1e-10)
    assert rows.trace() == pytest.approx(np.trace(T), rel=1e-10)
    gram = rows.unsplit() @ rows.unsplit().T
    np.testing.assert_allclose(rows.gram(), gram, rtol=0, atol=1e-10 * gram.max())
    weights = rng.standard_normal((3, len(gram)))
    combined = weights @ rows.unsplit()
    np.testing.assert_allclose(rows.combined(weights), combined, rtol=0, atol=1e-10)
    functions = samples.project(rng.standard_normal((4, N)))
    products = functions @ rows.unsplit().T
    np.testing.assert_allclose(rows.products(functions), products, rtol=0, atol=1e-10)
    assert target.energy(functions) == pytest.approx(expected.energy(functions), rel=1e-10)


def table_of(kind, X, rng):
    if kind == "gaps":
        X[rng.random(X.shape) < 0.05] = np.nan
    if kind == "integers":
        return (X > 0).astype(np.int8) + (X > 1)
    if kind == "sparse":
        return sparse.csc_array(np.where(X > 1, X, 0.0))
    if kind == "labels":
        frame = pd.DataFrame(X).rename(columns="x{}".format)
        return frame.assign(site=pd.cut(X[:, 0], 4, labels=list("abcd")))
    return X


CASES = {
    "plain": ("numbers", HSICLasso(4)),
    "exact": ("numbers", HSICLasso(4, gram_error=1e-9)),
    "weights": ("numbers", HSICLasso(4)),
    "covariates": ("numbers", HSICLasso(4)),
    "both": ("numbers", HSICLasso(4)),
    "nhsic": ("numbers", HSICLasso(4, measure="nhsic")),
    "gaps": ("gaps", HSICLasso(4, missing="ignore")),
    "gaps, both": ("gaps", HSICLasso(4, missing="ignore")),
    "integers": ("integers", HSICLasso(4)),
    "sparse": ("sparse", HSICLasso(4)),
    "labels": ("labels", HSICLasso(4)),
    "laplace": ("numbers", HSICLasso(4, kernel="laplace")),
    "nocco": ("numbers", NOCCOLasso(4)),
    "embedding": ("numbers", EmbeddingLasso(4)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "n_classes"),
    # a function for each of 300 classes takes long
    [(case, c) for case in CASES for c in (3, 50, 300) if (case, c) != ("embedding", 300)],
)
def test_a_selection_is_the_same(way, case, n_classes):
    kind, selector = CASES[case]
    X, y, rng = draw(n_classes)
    table, given = table_of(kind, X, rng), {}
    if case in ("weights", "both", "gaps, both"):
        given["sample_weight"] = weighted(rng)
    if case in ("covariates", "both", "gaps, both"):
        given["covariates"] = rng.standard_normal((N, 2))
    found = []
    for by_class in (False, True):
        way(by_class=by_class)
        fitted = selector.fit(table, y, **given)
        parts = [one.classes or {} for one in fitted.result_.features]
        found.append((fitted.selected_.tolist(), fitted.coef_.copy(), parts))
    (selected, coef, parts), (selected_too, coef_too, parts_too) = found
    assert selected_too == selected
    size = np.abs(coef).max()
    np.testing.assert_allclose(coef_too, coef, rtol=0, atol=1e-10 * size)
    assert all(one.keys() == other.keys() for one, other in zip(parts, parts_too, strict=True))
    for one, other in zip(parts, parts_too, strict=True):
        size = max(one.values(), default=0.0)
        np.testing.assert_allclose(
            [*other.values()], [*one.values()], rtol=0, atol=1e-9 * size
        )  # fmt: skip


def test_tests_and_half_samples(way):
    X, y, _ = draw(70, 300)
    X, y = np.concatenate([X, X[::-1] + 0.1]), np.append(y, y[::-1])  # a half needs every class
    found = []
    for by_class in (False, True):
        way(by_class=by_class)
        stable = StabilitySelection(HSICLasso(2), n_pairs=3, random_state=0).fit(X, y)
        found.append((hsic_scan(X, y).p_value, stable.frequencies_))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-8)
    np.testing.assert_array_equal(found[1][1], found[0][1])


def test_classes_that_covariates_explain_are_factored(way):
    """What is left of the rows would be a small difference of large numbers."""
    _, y, rng = draw(5)
    way(by_class=True)
    indicators = np.array([y == one for one in np.unique(y)], dtype=float)
    near = Samples(N, None, indicators + 1e-4 * rng.standard_normal(indicators.shape))
    target = matrix_of(y, near, HSIC())
    assert isinstance(target, FactoredTarget)
    assert not isinstance(target.rows, ClassRows)


def test_few_classes_have_rows_of_least_rank():
    _, y, _ = draw(20)
    assert len(matrix_of(y, Samples(N), HSIC()).whole[0]) == 19
