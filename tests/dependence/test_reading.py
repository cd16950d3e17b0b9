"""The table is read once, and what is wrong with it is found on the way."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import Gaussian, HSICLasso, Ignore, InvalidInputError
from hsiclasso.data import as_source
from hsiclasso.data.base import Source
from hsiclasso.dependence import relevance
from hsiclasso.kernels import Delta, Samples
from tests.dependence.cases import STORAGES, find, make_features
from tests.genotypes import as_genotypes, draw_calls


class Counting(Source):
    """A table that counts how often each column is read, as numbers or as it is stored."""

    def __init__(self, table):
        self.table = as_source(table)
        self.n_samples, self.n_features = self.table.n_samples, self.table.n_features
        self.missing_level = self.table.missing_level
        self.read = {"block": Counter(), "levels": Counter(), "stored": Counter()}

    def name(self, column):
        return self.table.name(column)

    def kind(self, column):
        return self.table.kind(column)

    uniform_kind = property(lambda self: self.table.uniform_kind)

    def categories(self, column):
        return self.table.categories(column)

    def _count(self, how, columns):
        found = getattr(self.table, how)(columns)
        if found is not None:
            self.read[how].update(np.arange(self.n_features)[columns].tolist())
        return found

    def block(self, columns):
        return self._count("block", columns)

    def levels(self, columns):
        return self._count("levels", columns)

    def stored(self, columns):
        return self._count("stored", columns)

    def runs(self):
        raise AssertionError("the pass finds what is not finite: no other one is needed")

    @property
    def n_stored(self):
        return self.table.n_stored

    def most(self, how="block"):
        """Readings of the column that is read most often."""
        return max(self.read[how].values(), default=0)


@pytest.mark.parametrize("kernels", [(Gaussian(),), (Gaussian(), Delta())], ids=["one", "two"])
@pytest.mark.parametrize("joint", [False, True])
def test_the_pass_reads_every_column_once(kernels, joint, rng, monkeypatch):
    monkeypatch.setattr(relevance, "_BLOCK", 3 * 30)
    for storage in ("float64", "float32", "missing", "missing whole numbers", "categories"):
        table = Counting(STORAGES[storage](rng, 30, 8))
        features = make_features(table, kernels, joint=joint)
        table.read["block"].clear()
        find(features, rng.standard_normal(30), n_threads=2)
        assert table.read["block"] == Counter(range(8))


@pytest.mark.parametrize(
    ("storage", "how"), [("int8", "levels"), ("bool", "levels"), ("sparse counts", "stored")]
)
def test_small_integers_and_sparse_columns_are_read_as_they_are_stored(storage, how, rng):
    table = Counting(STORAGES[storage](rng, 600, 8))
    features = make_features(table)
    table.read["block"].clear()
    find(features, rng.standard_normal(600))
    assert not table.read["block"]
    assert table.read[how] == Counter(range(8))


def test_genotypes_with_missing_calls_are_read_as_they_are_stored(rng):
    table = Counting(as_genotypes(draw_calls(rng, 600, 8)))
    features = make_features(table)
    for weights in (None, rng.random(600)):
        for covariates in (None, rng.random((2, 600))):
            table.read["block"].clear()
            table.read["levels"].clear()
            some = replace(features, samples=Samples(600, weights, covariates))
            find(some, rng.standard_normal(600))
            assert not table.read["block"]
            assert table.read["levels"] == Counter(range(8))


@pytest.mark.parametrize(
    ("storage", "how"), [("uint8", "levels"), ("sparse floats", "stored"), ("sparse nan", "stored")]
)
def test_what_cannot_be_counted_is_not_read_again(storage, how, rng):
    """Too many levels for few samples, too many stored entries, or missing ones among them."""
    dense = rng.integers(0, 40, (30, 6)).astype(float)
    made = {
        "uint8": lambda: dense.astype(np.uint8),
        "sparse floats": lambda: sparse.csc_array(dense + 0.5),
        "sparse nan": lambda: sparse.csc_array(np.where(dense > 35, np.nan, dense)),
    }
    table = Counting(made[storage]())
    features = make_features(table)
    table.read["block"].clear()
    find(features, rng.standard_normal(30))
    assert not table.read["block"]
    assert table.read[how] == Counter(range(6))


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize(
    "options",
    [{}, {"measure": "nhsic"}, {"measure": "nocco"}, {"kernel": Gaussian("median")},
     {"kernel": "laplace"}, {"joint": {"pair": [1, 5]}}, {"missing": Ignore(5)}],
    ids=str,
)  # fmt: skip
def test_a_fit_reads_candidates_once_more(options, n, rng):
    """For the redundancy; the learnt kernel and packed products start from what was read."""
    X = rng.standard_normal((n, 300))
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 2] + 0.1 * rng.standard_normal(n)
    if "missing" in options:
        X[rng.random(X.shape) < 0.05] = np.nan
    table = Counting(X)
    selector = HSICLasso(5, **options).fit(table, y)
    assert table.most() <= 2
    assert sum(table.read["block"].values()) < 2 * 300
    assert (np.array([table.read["block"][j] for j in selector.selected_]) == 2).all()


def test_neighbours_cost_one_more_pass(rng):
    table = Counting(rng.standard_normal((60, 100)))
    HSICLasso(5, n_neighbors=3).fit(table, rng.standard_normal(60))
    assert table.most() <= 3


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("stored", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_the_first_bad_column_is_named(stored, bad, n_threads, rng, monkeypatch):
    """Whatever the number of threads, the kernels, and how often it happens."""
    monkeypatch.setattr(relevance, "_BLOCK", 4 * 20)
    X = rng.standard_normal((20, 40))
    X[3, 29], X[7, 18], X[2, 21], X[0, 22] = bad, bad, np.inf, np.nan
    word = "NaN" if np.isnan(bad) else "infinity"
    for kernels in ((Gaussian(),), (Delta(), Gaussian()), (Delta(),)):
        features = make_features(stored(X), kernels, least_observed=0)
        with pytest.raises(InvalidInputError, match=f"the first is {word} in column 'x18'"):
            find(features, rng.standard_normal(20), n_threads=n_threads)


@pytest.mark.parametrize("kernels", [(Delta(), Gaussian()), (Gaussian(), Delta())], ids=str)
def test_the_first_bad_column_of_a_block_with_two_kernels(kernels, rng):
    X = rng.standard_normal((20, 6))
    X[:, 3:] = np.nan
    with pytest.raises(InvalidInputError, match="column 'x3'"):
        find(make_features(X, kernels, least_observed=0), rng.standard_normal(20))
    joint = make_features(X[:, [0, 3, 1, 4, 5]], kernels, least_observed=0, joint=True)
    with pytest.raises(InvalidInputError, match="column 'x1'"):
        find(joint, rng.standard_normal(20))


@pytest.mark.parametrize("stored", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_infinity_is_refused_where_values_may_be_missing(stored, rng):
    X = rng.standard_normal((20, 5))
    X[2, 1], X[3, 3] = np.nan, -np.inf
    for joint in (False, True):
        with pytest.raises(InvalidInputError, match="infinity in column 'x3'; values may be"):
            find(make_features(stored(X), joint=joint), rng.standard_normal(20))


def test_a_refusal_of_the_redundancy_is_the_same(rng):
    """A source may change under our hands: candidates are checked when they are read again."""
    X = rng.standard_normal((20, 5))
    problem = find(make_features(X), X[:, 0])
    X[4, 2] = np.inf
    with pytest.raises(InvalidInputError, match="infinity in column 'x2'"):
        problem.block(np.arange(5), np.arange(2))


def test_a_failing_table_is_not_read_to_its_end(rng, monkeypatch):
    monkeypatch.setattr(relevance, "_BLOCK", 20)
    X = rng.standard_normal((20, 500))
    X[0, 3] = np.nan
    features = make_features(table := Counting(X), least_observed=0)
    table.read["block"].clear()
    with suppress(InvalidInputError):
        find(features, X[:, 0])
    assert set(table.read["block"]) == {0, 1, 2, 3}


def test_names_of_bad_columns_are_those_of_the_frame(rng):
    frame = STORAGES["categories"](rng, 20, 4)
    pattern = re.escape("NaN in column 'c1'")
    with pytest.raises(InvalidInputError, match=pattern):
        find(make_features(frame, Delta(), least_observed=0), rng.standard_normal(20))
