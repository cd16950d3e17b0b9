"""Columns cut into states, and the mutual information between them."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import mutual_info_score

from hsiclasso import Auto, InvalidInputError
from hsiclasso.baselines.binned import BinnedInformation, States, _exact_logs, cut_columns
from hsiclasso.baselines.dependency import MeasureOptions, dependency_matrix
from tests import oracles
from tests.baselines import oracle_binned as oracle
from tests.baselines.conftest import relate
from tests.columns import columns

PENG = MeasureOptions()
QUANTILE = MeasureOptions(bins="quantile")
LEVELS = MeasureOptions(bins="levels")


def cut(x, options=PENG, **how):
    """Cut one column; returns its states and their number."""
    found = cut_columns(np.array(x, dtype=float)[None], options, **how)
    assert found.codes.dtype == np.uint8
    assert found.sizes[0] == found.codes.max() + 1
    return found.codes[0]


def informer(*codes):
    """Columns of states, the first of which is the target too."""
    table = np.array(codes, dtype=np.uint8)
    given_states = States(table, table.max(axis=1).astype(np.int64) + 1)
    return BinnedInformation(given_states, given_states.take(np.array([0])), 1)


def from_counts(counts):
    """Two columns of states with the given table of counts."""
    pairs = [
        pair
        for a, row in enumerate(counts)
        for b, count in enumerate(row)
        for pair in [(a, b)] * count
    ]
    return np.array(pairs).T


class TestPengsCut:
    def test_by_hand(self):
        # mean 0, sum of squares 16 + 1 + 0 + 1 + 16 = 34, deviation sqrt(34 / 4) = 2.92
        assert cut([-4, -1, 0, 1, 4]).tolist() == [0, 1, 1, 1, 2]
        # 2.92 t < 1 from t = 0.34 on
        options = MeasureOptions(threshold=0.34)
        assert cut([-4, -1, 0, 1, 4], options).tolist() == [0, 0, 1, 2, 2]

    def test_sample_deviation(self):
        # mean 0, sum of squares 8; sample deviation sqrt(8 / 4) = 1.41; that of the population,
        # sqrt(8 / 5) = 1.26, would set 1.3 apart
        x = np.array([-1.3, 1.3, 0, np.sqrt(2.31), -np.sqrt(2.31)])
        assert np.sum(x**2) == pytest.approx(8)
        assert cut(x).tolist() == [1, 1, 1, 2, 0]

    def test_values_at_the_edges_are_in_the_middle(self):
        # mean 0, sum of squares 10, n - 1 = 10: the deviation is 1
        x = np.array([-2.0, -1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        assert x.std(ddof=1) == 1.0
        assert cut(x).tolist() == [0, 1, 1, 2, *[1] * 7]

    def test_values_at_the_edges_of_counts(self):
        # mean 8, squares 4 + 9 + 1 + 1 + 1 + 4 = 20, deviation 2: 6 and 10 are on the edges
        assert cut([6, 11, 7, 7, 7, 10]).tolist() == [0, 1, 0, 0, 0, 0]
        rng, on_edge = np.random.default_rng(0), 0
        for _ in range(5000):
            x = rng.integers(0, 12, rng.integers(5, 14))
            if np.unique(x).size > 3:
                expected, met = oracle.peng_states_of_integers(x)
                on_edge += met
                np.testing.assert_array_equal(cut(x), expected)
        assert on_edge > 5

    @given(columns, st.sampled_from([0.25, 0.5, 1.0, 2.0]))
    def test_oracle(self, x, threshold):
        if not 1e-150 < np.abs(x).max() < 1e150:
            return  # see test_huge_values
        options = MeasureOptions(threshold=threshold)
        np.testing.assert_array_equal(cut(x, options), oracle.peng_states(x, threshold))

    @given(columns)
    def test_symmetric(self, x):
        if not 1e-150 < np.abs(x).max() < 1e150:
            return
        codes = cut(x)
        np.testing.assert_array_equal(cut(-x), codes.max() - codes)

    @pytest.mark.parametrize("values", [(5.0,), (2.0, 9.0), (-1.0, 0.0, 100.0)])
    def test_few_values_are_kept(self, values, rng):
        x = np.append(values, rng.choice(values, 40))
        np.testing.assert_array_equal(cut(x), np.searchsorted(values, x))

    def test_states_without_samples_are_left_out(self):
        # one value far below, none above mean + deviation: states 0 and 1, not 0 and 2
        x = np.array([-100.0, 1.0, 2.0, 3.0, 4.0])
        found = cut_columns(x[None], PENG)
        assert found.sizes.tolist() == [2]
        assert found.codes.tolist() == [[0, 1, 1, 1, 1]]
        assert cut_columns(-x[None], PENG).codes.tolist() == [[1, 0, 0, 0, 0]]
        # the middle may be empty too
        far = np.repeat([-5.0, -5.1, 5.0, 5.1], 4)
        assert cut(far, MeasureOptions(threshold=0.5)).tolist() == [0] * 8 + [1] * 8
        # and nothing may lie outside: one state
        assert cut_columns(np.arange(9.0)[None], MeasureOptions(threshold=5.0)).sizes == [1]

    def test_shift_and_scale(self, rng):
        x = rng.standard_normal(101)
        np.testing.assert_array_equal(cut(3 * x + 50), cut(x))
        np.testing.assert_array_equal(cut(x * 2.0**-400), cut(x))

    def test_huge_values(self, rng):
        x = rng.standard_normal(101)
        np.testing.assert_array_equal(cut(x * 2.0**700), cut(x))

    def test_tiny_values(self, rng):
        x = rng.standard_normal(101)
        np.testing.assert_array_equal(cut(x * 2.0**-700), cut(x))


class TestQuantileCut:
    @given(st.integers(6, 90), st.integers(2, 9), st.integers(0, 9999))
    def test_states_of_equal_size(self, n, n_bins, seed):
        x = np.random.default_rng(seed).standard_normal(n)
        sizes = np.bincount(cut(x, MeasureOptions(bins="quantile", n_bins=n_bins)))
        if n > n_bins:
            assert sizes.size == n_bins
        assert sizes.sum() == n
        assert np.ptp(sizes) <= 1

    def test_quantiles_that_are_values(self, rng):
        for n, n_bins in ((56, 11), (91, 10), (199, 11), (70, 69)):
            x = rng.standard_normal(n)
            codes = cut(x, MeasureOptions(bins="quantile", n_bins=n_bins))
            np.testing.assert_array_equal(codes, oracle.quantile_states(x, n_bins))
            assert np.ptp(np.bincount(codes)) <= 1

    @given(columns, st.integers(2, 9))
    def test_oracle(self, x, n_bins):
        options = MeasureOptions(bins="quantile", n_bins=n_bins)
        np.testing.assert_array_equal(cut(x, options), oracle.quantile_states(x, n_bins))

    def test_by_hand(self):
        # edges at ranks 9/4, 9/2 and 27/4 of 0 ... 9: states of 3, 2, 2 and 3 values
        x = np.arange(10.0)
        codes = cut(x, MeasureOptions(bins="quantile", n_bins=4))
        assert codes.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3, 3]

    def test_ties_stay_together(self, rng):
        x = rng.integers(0, 12, 300).astype(float)
        codes = cut(x, QUANTILE)
        for value in np.unique(x):
            assert np.unique(codes[x == value]).size == 1
        assert (np.diff(codes[np.argsort(x, kind="stable")].astype(int)) >= 0).all()

    def test_many_equal_values_at_the_low_end(self, rng):
        x = np.where(np.arange(100) < 70, 0.0, 1 + rng.uniform(size=100))
        codes = cut(x, QUANTILE)
        assert (codes[:70] == 0).all()
        assert (codes[70:] > 0).all()

    def test_many_equal_values_at_the_high_end(self, rng):
        x = np.where(np.arange(100) < 85, 2.0, rng.uniform(size=100))
        codes = cut(x, QUANTILE)
        assert not set(codes[:85]) & set(codes[85:])

    @pytest.mark.parametrize("n_bins", [2, 5, 9])
    def test_few_values_are_kept(self, n_bins, rng):
        values = np.sort(rng.standard_normal(n_bins))
        x = np.append(values, rng.choice(values, 60, p=_uneven(n_bins)))
        options = MeasureOptions(bins="quantile", n_bins=n_bins)
        np.testing.assert_array_equal(cut(x, options), np.searchsorted(values, x))

    def test_only_ranks_matter(self, rng):
        x = rng.standard_normal(77)
        np.testing.assert_array_equal(cut(np.exp(3 * x), QUANTILE), cut(x, QUANTILE))
        np.testing.assert_array_equal(cut(1e300 * x, QUANTILE), cut(x, QUANTILE))
        np.testing.assert_array_equal(cut(1e-300 * x, QUANTILE), cut(x, QUANTILE))

    def test_neighbours_stay_apart(self):
        x = np.append(np.floor(0.9 * 2.0**53) + np.arange(99), 1.5 * 2.0**53)
        codes = cut(x, MeasureOptions(bins="quantile", n_bins=50))
        np.testing.assert_array_equal(np.bincount(codes), 2)

    def test_two_hundred_states(self, rng):
        x = rng.permutation(1000.0 + np.arange(1000))
        codes = cut(x, MeasureOptions(bins="quantile", n_bins=200))
        np.testing.assert_array_equal(codes, (x - 1000) // 5)


def _uneven(k):
    shares = np.arange(1.0, k + 1) ** 2
    return shares / shares.sum()


class TestLevels:
    @pytest.mark.parametrize(("options", "labels"), [(LEVELS, False), (PENG, True)])
    def test_every_value_is_a_state(self, options, labels, rng):
        values = np.sort(rng.standard_normal(200))
        x = rng.permutation(np.append(values, rng.choice(values, 500)))
        codes = cut(x, options, labels=labels)
        np.testing.assert_array_equal(codes, np.searchsorted(values, x))

    @pytest.mark.parametrize(("options", "labels"), [(LEVELS, False), (QUANTILE, True)])
    def test_more_than_two_hundred_are_refused(self, options, labels):
        found = cut_columns(np.arange(201.0)[None], options, labels=labels)
        assert found.sizes.tolist() == [0]

    def test_the_two_zeros_are_one_value(self):
        assert cut([0.0, -0.0, 1.0], LEVELS).tolist() == [0, 0, 1]

    def test_columns_of_both_sorts_together(self, rng):
        table = np.array([rng.integers(0, 3, 50), rng.standard_normal(50), np.zeros(50)])
        found = cut_columns(table, QUANTILE)
        assert found.sizes.tolist() == [3, 5, 1]
        for codes, x in zip(found.codes, table, strict=True):
            np.testing.assert_array_equal(codes, oracle.quantile_states(x))


class TestInformation:
    def test_two_by_two_by_hand(self):
        # p = 3/8 twice and 1/8 twice, both margins 1/2 and 1/2:
        # 2 * 3/8 log(3/8 * 4) + 2 * 1/8 log(1/8 * 4) = 3/4 log(3/2) - 1/4 log 2
        a, b = from_counts([[3, 1], [1, 3]])
        expected = 3 / 4 * np.log(3 / 2) - 1 / 4 * np.log(2)
        assert informer(a, b).relevance[1] == pytest.approx(expected, rel=1e-14)
        assert oracles.mutual_information(a, b) == pytest.approx(expected, rel=1e-14)

    def test_three_by_three_by_hand(self):
        # all margins 1/3; 2/9 three times, 1/9 three times, which is independence:
        # 3 * 2/9 log(2/9 * 9) = 2/3 log 2
        a, b = from_counts([[2, 1, 0], [0, 2, 1], [1, 0, 2]])
        expected = 2 / 3 * np.log(2)
        assert informer(a, b).relevance[1] == pytest.approx(expected, rel=1e-14)

    def test_uneven_margins_by_hand(self):
        # rows 4, 4, 4 and columns 5, 3, 4 of 12: c/12 log(12 c / (row * column)) for
        # 4, 2, 2, 1, 1, 2 is 1/3 log(12/5), 1/6 log 2, 1/6 log(3/2), 1/12 log(3/5), 0,
        # 1/6 log(3/2)
        a, b = from_counts([[4, 0, 0], [0, 2, 2], [1, 1, 2]])
        expected = np.log(12 / 5) / 3 + np.log(2) / 6 + np.log(3 / 2) / 3 + np.log(3 / 5) / 12
        assert informer(a, b).relevance[1] == pytest.approx(expected, rel=1e-14)

    def test_independence_is_exactly_nothing(self):
        a, b = from_counts([[2, 4, 6], [3, 6, 9]])
        assert informer(a, b).relevance[1] == 0

    def test_equal_information_ties_exactly(self, rng):
        """Whatever the order of samples, states and columns: ties are not left to rounding."""
        target = rng.integers(0, 3, 211)
        column = np.where(rng.random(211) < 0.5, target, rng.integers(0, 4, 211))
        names, order = rng.permutation(4), rng.permutation(211)
        states = [target, column, names[column], 3 - column]
        found = informer(*map(oracle.renumber, states)).relevance
        assert found[1] == found[2] == found[3] > 0
        again = informer(*(oracle.renumber(one[order]) for one in states)).relevance
        np.testing.assert_array_equal(found, again)
        mixed = BinnedInformation.block(
            informer(*map(oracle.renumber, states * 4)), np.arange(16), np.arange(16)
        )
        assert np.unique(mixed[np.arange(16) % 4 == 1][:, np.arange(16) % 4 == 0]).size == 1

    def test_counts_that_differ_tie_where_their_information_does(self):
        # 4 log 4 = 4 * 2 log 2: a state of 4 is worth four states of 2
        logs = _exact_logs(5000)
        counts = np.arange(5001)
        for part in logs:
            for factor in (2, 3, 7, 12):
                whole = counts[counts * factor <= 5000]
                product = factor * part[whole] + whole * part[factor]
                np.testing.assert_array_equal(part[whole * factor], product)
        true = counts[1:] * np.log(counts[1:])
        np.testing.assert_allclose(logs.sum(axis=0)[1:], true, rtol=4e-16)

    @pytest.mark.parametrize("n", [3, 200, 10_000, 1_000_000])
    def test_sums_of_logarithms_are_exact(self, n, rng):
        logs = _exact_logs(n)
        counts = rng.multinomial(n, rng.dirichlet(np.ones(9)))
        for part in logs:
            terms = [Fraction(value) for value in part[[*counts, n]]]
            for values in (part[[*counts, n]], part[[n, *counts[::-1]]]):
                assert Fraction(float(sum(values.tolist()))) == sum(terms)

    @given(
        st.integers(3, 80), st.integers(1, 9), st.integers(1, 9), st.integers(0, 9999),
        st.floats(0, 1),
    )  # fmt: skip
    def test_oracles(self, n, s, t, seed, noise):
        rng = np.random.default_rng(seed)
        a = rng.integers(0, s, n)
        b = oracle.renumber(np.where(rng.uniform(size=n) < noise, rng.integers(0, t, n), a % t))
        a = oracle.renumber(a)
        found = informer(a, b).relevance
        assert found[1] == pytest.approx(oracles.mutual_information(a, b), rel=1e-9, abs=1e-14)
        assert found[1] == pytest.approx(mutual_info_score(a, b), rel=1e-9, abs=1e-14)
        assert found[0] == pytest.approx(oracle.entropy(a), rel=1e-12, abs=1e-14)
        assert -1e-15 < found[1] <= min(oracle.entropy(a), oracle.entropy(b)) + 1e-14

    @given(st.integers(3, 60), st.integers(0, 9999))
    def test_a_function_of_a_column_knows_no_more(self, n, seed):
        """Data processing: merging states loses information, never adds any."""
        rng = np.random.default_rng(seed)
        y, x = rng.integers(0, 4, n), rng.integers(0, 8, n)
        merged = rng.integers(0, 3, 8)[x]
        found = informer(*map(oracle.renumber, (y, x, merged))).relevance
        assert found[2] <= found[1] + 1e-14

    @given(st.integers(3, 60), st.integers(0, 9999))
    def test_names_of_states_and_order_of_samples_do_not_matter(self, n, seed):
        rng = np.random.default_rng(seed)
        table = np.array([oracle.renumber(x) for x in rng.integers(0, 5, (3, n))])
        base = informer(*table).relevance
        renamed = [rng.permutation(x.max() + 1)[x] for x in table]
        np.testing.assert_allclose(informer(*renamed).relevance, base, atol=1e-14)
        moved = table[:, rng.permutation(n)]
        np.testing.assert_array_equal(informer(*moved).relevance, base)

    @pytest.mark.parametrize("n", [3, 4, 199, 200, 1001])
    def test_odd_and_even_numbers_of_samples(self, n, rng):
        table = [oracle.renumber(x) for x in rng.integers(0, 3, (4, n))]
        expected = [mutual_info_score(table[0], x) for x in table]
        np.testing.assert_allclose(informer(*table).relevance, expected, atol=1e-14)

    def test_two_hundred_states_on_both_sides(self, rng):
        a, b = rng.permutation(np.repeat(np.arange(200), 3)), np.repeat(np.arange(200), 3)
        table = informer(a, b, *rng.integers(0, 2, (8, 600)))
        expected = mutual_info_score(a, b)
        assert table.relevance[1] == pytest.approx(expected, rel=1e-12)
        every = np.arange(10)
        assert table.block(every, every)[0, 1] == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 30))
    X[:, 3] = rng.integers(0, 2, 150)
    X[:, 4] = 1.0
    X[:, 5] = X[:, 0] ** 2 + 0.1 * X[:, 5]
    return X


class TestBlocks:
    """One column with many is counted, many with many are products: the same numbers."""

    @pytest.mark.parametrize("cuts", [{}, {"bins": "quantile", "n_bins": 7}], ids=str)
    def test_oracle(self, table, cuts):
        related = relate(table, table[:, 0], **cuts)
        every = np.arange(30)
        expected = oracle.redundancy(table, **cuts)
        np.testing.assert_allclose(related.block(every, every), expected, atol=1e-12)
        np.testing.assert_allclose(related.block(every, every[:3]), expected[:, :3], atol=1e-12)
        np.testing.assert_allclose(related.relevance, expected[:, 0], atol=1e-12)

    @pytest.mark.parametrize("n_cols", [1, 7, 8, 9, 30])
    def test_any_rows_and_columns(self, table, n_cols, rng):
        related = relate(table, table[:, 0])
        whole = oracle.redundancy(table)
        rows, cols = rng.permutation(30)[:11], rng.permutation(30)[:n_cols]
        np.testing.assert_allclose(related.block(rows, cols), whole[np.ix_(rows, cols)], atol=1e-12)
        assert related.block(rows[:0], cols).shape == (0, n_cols)
        assert related.block(rows, cols[:0]).shape == (11, 0)

    def test_counting_and_products_give_the_same(self, rng):
        """More columns than fit on one side of a product."""
        X = rng.standard_normal((41, 600))
        related = relate(X, X[:, 0], n_threads=2)
        every = np.arange(600)
        products = related.block(every, every)
        np.testing.assert_allclose(products, products.T, atol=1e-14)
        for k in (0, 255, 256, 599):
            np.testing.assert_allclose(
                related.block(every, every[k : k + 1])[:, 0], products[:, k], atol=1e-14
            )
        entropies = [oracle.entropy(oracle.peng_states(x)) for x in X.T]
        np.testing.assert_allclose(np.diag(products), entropies, atol=1e-14)

    def test_matrix_of_all(self, rng):
        X = rng.standard_normal((20, 300))
        related = relate(X, X[:, 0])
        told = []
        matrix = dependency_matrix(related, lambda *words: told.append(words))
        every = np.arange(300)
        np.testing.assert_allclose(matrix, related.block(every, every), atol=1e-14)
        assert told == [("redundancy", 256, 300), ("redundancy", 300, 300)]

    def test_threads(self, table):
        one, four = (relate(table, table[:, 0], n_threads=k) for k in (1, 4))
        np.testing.assert_array_equal(one.relevance, four.relevance)
        every = np.arange(30)
        np.testing.assert_array_equal(one.block(every, every), four.block(every, every))

    def test_products_of_many_states_stay_small(self, monkeypatch, rng):
        X = rng.standard_normal((400, 16))
        related = relate(X, X[:, 0], bins="quantile", n_bins=200)
        most = 1 << 22  # entries of a table of counts: 16 MB

        def no_more(self):
            assert int(self.sizes.sum()) ** 2 <= most
            return plain(self)

        plain = States.indicators
        monkeypatch.setattr(States, "indicators", no_more)
        related.block(np.arange(16), np.arange(16))


class TestTables:
    """Tables of every kind are cut by what they hold."""

    def test_mixed_frame(self, rng):
        n = 120
        frame = pd.DataFrame({"number": rng.standard_normal(n)})
        frame["flag"] = rng.uniform(size=n) < 0.3
        frame["count"] = rng.integers(0, 9, n).astype(np.int8)
        frame["city"] = rng.choice(["Rome", "Oslo", "Bern", "Kiev", "Riga", "Bonn"], n)
        frame["grade"] = pd.Categorical(rng.choice(list("cab"), n), categories=list("xcabyz"))
        y = rng.integers(0, 2, n)
        expected = [
            oracles.mutual_information(oracle.peng_states(frame["number"]), y),
            oracles.mutual_information(frame["flag"], y),
            oracles.mutual_information(oracle.peng_states(frame["count"]), y),
            oracles.mutual_information(frame["city"], y),
            oracles.mutual_information(np.asarray(frame["grade"]), y),
        ]
        related = relate(frame, y)
        np.testing.assert_allclose(related.relevance, expected, atol=1e-14)
        polar = pl.DataFrame(
            {
                name: pl.Series(frame[name].to_list(), dtype=pl.Categorical)
                if name == "grade"
                else pl.Series(frame[name].to_numpy())
                for name in frame.columns
            }
        )
        np.testing.assert_allclose(relate(polar, y).relevance, expected, atol=1e-14)
        by_quantile = relate(frame, y, bins="quantile", n_bins=3)
        np.testing.assert_allclose(by_quantile.relevance[[1, 3, 4]], np.array(expected)[[1, 3, 4]])
        assert by_quantile.relevance[2] == pytest.approx(
            oracles.mutual_information(oracle.quantile_states(frame["count"], 3), y)
        )

    @pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array])
    def test_sparse(self, convert, rng):
        X = rng.poisson(0.4, (90, 12)).astype(float)
        y = X[:, 1] + rng.standard_normal(90)
        np.testing.assert_array_equal(relate(convert(X), y).relevance, relate(X, y).relevance)

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, bool])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_dtypes(self, dtype, order, rng):
        X = np.clip(rng.poisson(2, (60, 9)), 0, 1 if dtype is bool else 99)
        y = rng.integers(0, 3, 60)
        found = relate(np.array(X, dtype=dtype, order=order), y).relevance
        np.testing.assert_allclose(found, oracle.relevance(X, y), atol=1e-14)

    def test_constant_columns_know_nothing(self, rng):
        X = rng.standard_normal((50, 3))
        X[:, 1] = 7.0
        related = relate(X, X[:, 0])
        assert related.relevance[1] == pytest.approx(0, abs=1e-14)
        np.testing.assert_allclose(related.block(np.arange(3), np.array([1])), 0, atol=1e-14)

    def test_three_samples(self):
        X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 5.0]])
        found = relate(X, np.array([0.1, 0.2, 0.3])).relevance
        # three states each; two states: entropy log 3 - 2/3 log 2
        np.testing.assert_allclose(found, [np.log(3), np.log(3) - 2 / 3 * np.log(2)], rtol=1e-14)

    def test_many_blocks_of_columns(self, monkeypatch, rng):
        X = rng.standard_normal((30, 50))
        X[:, ::7] = rng.integers(0, 2, (30, 8))
        expected = relate(X, X[:, 1]).relevance
        monkeypatch.setattr("hsiclasso.baselines.binned._BLOCK", 90)  # three columns
        np.testing.assert_array_equal(relate(X, X[:, 1], n_threads=3).relevance, expected)

    def test_progress(self, rng):
        told = []
        X = rng.standard_normal((30, 5))
        relate(X, X[:, 0], report=lambda *words: told.append(words))
        assert told[-1] == ("states", 5, 5)

    def test_the_table_is_not_written_to(self, rng):
        X = np.asfortranarray(rng.standard_normal((30, 5)))
        before = X.copy()
        X.flags.writeable = False
        relate(X, X[:, 0], bins="quantile")
        np.testing.assert_array_equal(X, before)

    def test_too_many_levels(self, rng):
        X = np.column_stack([rng.integers(0, 3, 300), np.arange(300), rng.permutation(300)])
        with pytest.raises(
            InvalidInputError, match=r"column 'x1' has more than 200 .*\(2 columns in all\)"
        ):
            relate(X, X[:, 0], bins="levels")
        frame = pd.DataFrame({"x": X[:, 0], "id": [f"sample{i}" for i in range(300)]})
        with pytest.raises(InvalidInputError, match="column 'id' has more than 200 distinct"):
            relate(frame, X[:, 0])
        relate(frame.iloc[:200], X[:200, 0])  # as many as there may be


@pytest.fixture(scope="module", name="X")
def fixture_x():
    return np.random.default_rng(8).standard_normal((140, 6))


class TestTargets:
    def test_classes_are_states(self, X, rng):
        y = rng.integers(0, 6, 140)
        expected = oracle.relevance(X, y)
        np.testing.assert_allclose(relate(X, y).relevance, expected, atol=1e-13)
        words = np.array(["f", "b", "z", "q", "a", "x"])[y]
        np.testing.assert_allclose(relate(X, words).relevance, expected, atol=1e-13)
        other = relate(X, y, target="real")
        np.testing.assert_allclose(
            other.relevance, oracle.relevance(X, oracle.peng_states(y)), atol=1e-13
        )

    @pytest.mark.parametrize("cuts", [{}, {"bins": "quantile"}, {"threshold": 0.5}], ids=str)
    def test_real_targets_are_cut_like_columns(self, X, cuts):
        y = X[:, 0] + X[:, 1] ** 2
        expected = oracle.relevance(X, oracle.states(y, **cuts), **cuts)
        np.testing.assert_allclose(relate(X, y, **cuts).relevance, expected, atol=1e-13)

    def test_levels(self, X, rng):
        rounded = np.round(X)
        y = rounded[:, 0] + 10 * rounded[:, 1]
        found = relate(rounded, y, bins="levels", target="real").relevance
        np.testing.assert_allclose(found, oracle.relevance(rounded, y, bins="levels"), atol=1e-13)
        many = rng.standard_normal(140 * 2)  # more than 200 values: Peng's states
        found = relate(np.vstack([rounded, rounded]), many, bins="levels").relevance
        expected = oracle.relevance(
            np.vstack([rounded, rounded]), oracle.peng_states(many), bins="levels"
        )
        np.testing.assert_allclose(found, expected, atol=1e-13)

    def test_ranks_and_counts(self, X):
        y = np.exp(3 * X[:, 0])
        ranks = np.argsort(np.argsort(y)).astype(float)
        found = relate(X, y, target=Auto(transform="rank")).relevance
        np.testing.assert_allclose(
            found, oracle.relevance(X, oracle.peng_states(ranks)), atol=1e-13
        )
        assert np.abs(found - relate(X, y).relevance).max() > 0.01
        counts = np.round(y).astype(int)
        found = relate(X, counts, target="counts").relevance
        roots = np.sqrt(counts + 3 / 8)
        np.testing.assert_allclose(
            found, oracle.relevance(X, oracle.peng_states(roots)), atol=1e-13
        )

    def test_labels_are_averaged(self, X, rng):
        Y = rng.integers(0, 2, (140, 3))
        related = relate(X, Y)
        each = np.mean([oracle.relevance(X, label) for label in Y.T], axis=0)
        np.testing.assert_allclose(related.relevance, each, atol=1e-13)
        together = oracle.relevance(X, Y @ [4, 2, 1])
        np.testing.assert_allclose(relate(X, Y, target=Auto(outputs="joint")).relevance, together)

    def test_real_outputs_are_taken_together(self, X):
        Y = X[:, :2] + X[:, 2:4] ** 2
        cuts = [oracle.peng_states(y) for y in Y.T]
        together = oracle.relevance(X, cuts[0] * 3 + cuts[1])
        np.testing.assert_allclose(relate(X, Y).relevance, together, atol=1e-13)
        each = np.mean([oracle.relevance(X, c) for c in cuts], axis=0)
        averaged = relate(X, Y, target=Auto(outputs="average"))
        np.testing.assert_allclose(averaged.relevance, each, atol=1e-13)
        assert np.abs(together - each).max() > 0.01

    def test_several_columns_of_classes(self, X, rng):
        Y = np.column_stack([rng.choice(list("abc"), 140), rng.choice(list("uv"), 140)])
        each = np.mean([oracle.relevance(X, oracle.renumber(y)) for y in Y.T], axis=0)
        np.testing.assert_allclose(relate(X, Y).relevance, each, atol=1e-13)

    def test_too_many_classes(self, rng):
        X = rng.standard_normal((402, 2))
        y = np.arange(402) % 201
        with pytest.raises(InvalidInputError, match="y has more than 200 classes or states"):
            relate(X, y, target="classes")
        relate(X, np.arange(402) % 200, target="classes")
        with pytest.raises(InvalidInputError, match="average over outputs with target="):
            relate(X, rng.standard_normal((402, 6)), bins="quantile")

    def test_targets_without_states(self, X):
        time = np.array(
            [(t, e) for t, e in zip(np.arange(1.0, 141), np.tile([True, False], 70), strict=True)],
            dtype=[("time", float), ("event", bool)],
        )
        with pytest.raises(InvalidInputError, match="kind 'survival', which cannot be cut"):
            relate(X, time)
        with pytest.raises(InvalidInputError, match="kind 'affinity', which cannot be cut"):
            relate(X, X @ X.T, target="affinity")


def test_no_warning(rng):
    X = rng.standard_normal((50, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        related = relate(X, X[:, 0])
        related.block(np.arange(20), np.arange(20))
