"""Tables that are not in memory: the same results, each chunk read once, bounded memory."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hsiclasso import Delta, Gaussian, HSICLasso, Ignore, InvalidInputError, NOCCOLasso
from hsiclasso.data.stored import StoredArray
from hsiclasso.dependence import budget, streaming
from hsiclasso.dependence.relate import first_pass
from hsiclasso.dependence.streaming import StreamedPass
from hsiclasso.selectors.pipeline import target_matrix
from hsiclasso.selectors.prepare import prepare
from tests.dependence.cases import make_features
from tests.dependence.chunks import D, N, assert_same

pytestmark = pytest.mark.usefixtures("small_chunks")


class Store:
    """An array that counts how often each of its chunks is read."""

    def __init__(self, array, width=7):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.chunks = (len(array), width)
        self.read = Counter()

    def __getitem__(self, key):
        rows, columns = key
        assert rows == slice(None)
        part = range(self.shape[1])[columns]
        self.read.update(range(part.start // self.chunks[1], (part.stop - 1) // self.chunks[1] + 1))
        return self.array[:, columns].copy()


CASES = {
    "screened": HSICLasso(5),
    "exact": HSICLasso(5, gram_error=1e-9),
    "normalised": HSICLasso(5, measure="nhsic"),
    "nocco": NOCCOLasso(5),
    "laplace": HSICLasso(5, kernel="laplace"),
    "kernels by column": HSICLasso(5, kernel={"x3": Delta(), "x40": Gaussian(0.5)}),
    "covariate": HSICLasso(5, covariates=["x7"]),
    "excluded": HSICLasso(5, exclude=["x0", "x59"], keep=["x30"]),
    "joint": HSICLasso(5, joint={"both": ["x1", "x50"]}),
    "neighbours": HSICLasso(5, n_neighbors=3),
    "one thread": HSICLasso(5, n_jobs=1),
    "missing": HSICLasso(5, missing=Ignore(0.5)),
}


@pytest.mark.parametrize("case", CASES)
def test_streamed_like_in_memory(case, data, rng):
    X, y = data
    if case == "missing":
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    selector = CASES[case]
    store = Store(X)
    found = selector.fit(StoredArray(store), y)
    found = {
        name: getattr(found, name)
        for name in ("selected_", "coef_", "relevance_", "n_observed_", "result_")
    }
    expected = selector.fit(X, y)
    assert_same(type("Found", (), found), expected)
    assert [f.neighbours for f in found["result_"].features] == [
        f.neighbours for f in expected.result_.features
    ]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32", "bool"])
def test_dtypes(dtype, data):
    X, y = data
    X = (X > 0).astype(bool) if dtype == "bool" else np.abs(np.round(2 * X)).astype(dtype)
    assert_same(HSICLasso(5).fit(StoredArray(Store(X)), y), HSICLasso(5).fit(X, y))


def test_samples_without_weight_or_target(data, rng):
    X, y = data
    weights = rng.integers(0, 3, N).astype(float)
    found = HSICLasso(5).fit(StoredArray(Store(X)), y, sample_weight=weights)
    assert_same(found, HSICLasso(5).fit(X, y, sample_weight=weights))


@pytest.mark.parametrize("width", [1, 7, 16, 60])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_chunk_is_read_once(width, n_jobs, data):
    """Also the candidates: their columns were held when the chunk was read."""
    X, y = data
    store = Store(X, width)
    HSICLasso(5, n_jobs=n_jobs).fit(StoredArray(store), y)
    assert store.read == Counter(range(-(-D // width)))


def test_what_is_not_held_is_read_again(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(streaming, "_LEAST_HELD", 0)
    monkeypatch.setattr(streaming, "_HELD_EACH", 0)
    monkeypatch.setattr(budget, "_HELD", 2 * 8 * N)
    store = Store(X)
    found = HSICLasso(5).fit(StoredArray(store), y)
    assert_same(found, HSICLasso(5).fit(X, y))
    assert store.read.total() > -(-D // 7)


@pytest.mark.parametrize("columns", [(50, 20), (20, 50)])
def test_the_first_bad_column_is_named(columns, data):
    X, y = data[0].copy(), data[1]
    for column in columns:
        X[5, column] = np.nan
    with pytest.raises(InvalidInputError, match=re.escape("NaN in column 'x20'")):
        HSICLasso(5).fit(StoredArray(Store(X)), y)


def test_progress_reaches_the_end(data):
    X, y = data
    seen = []
    HSICLasso(3).fit(StoredArray(Store(X)), y, progress=lambda *told: seen.append(told))
    done = [count for stage, count, total in seen if stage == "relevance"]
    assert done == sorted(done)
    assert done[-1] == D
    assert len(done) > 3


def test_columns_that_others_outdo_are_dropped(data):
    """What a worker knows of its own chunks says which columns are not worth sending."""
    X, y = data
    selector = HSICLasso(5)
    inputs = prepare(selector, StoredArray(Store(X)), y)
    work = StreamedPass(
        first_pass(inputs.features, target_matrix(inputs), inputs.measure, 6),
        "relevance", 6, inputs.budget,
    )  # fmt: skip
    work.n_held = 8
    chunks = work.blocks()
    results = [work(part) for part in chunks]
    work.note(results[:4], -np.inf)
    work.note(results[4:], -np.inf)
    bounds = np.concatenate([result.upper for result in results])
    assert work.least_held == np.sort(bounds)[-8]
    kept = [result.above(work.least_held) for result in results]
    assert sum(result.columns.size for result in kept) == 8
    for result in kept:
        np.testing.assert_array_equal(result.values, X[:, result.columns].T)
        assert (result.upper >= work.least_held).all()
    work.note([], np.inf)  # others know more
    assert work.least_held == np.inf
    work.n_held, work.least_held = 0, -np.inf
    work.note(results, -np.inf)
    assert work.least_held == -np.inf


@pytest.mark.parametrize("first", [np.arange(7), np.arange(2, 9), np.array([0, 2, 3]), np.zeros(0)])
def test_features_are_sent_in_few_bytes(first, data):
    features = make_features(data[0])
    features = replace(features, first=first.astype(np.int64))
    again = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(again.first, features.first)
    assert again.first.dtype == np.int64
    many = replace(features, source=None, first=np.arange(10**6))
    assert len(pickle.dumps(many)) < 10**5
