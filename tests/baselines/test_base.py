"""What all methods share: parameters, ranking, warnings, results, and scikit-learn's habits."""

from __future__ import annotations

import json
import logging
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_info, threadpool_limits

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    Gaussian,
    InvalidInputError,
    Real,
)
from hsiclasso.baselines import FVM, LassoPath, MIRanking, SpAM
from hsiclasso.baselines.base import Baseline, by_score
from hsiclasso.baselines.job import ANY_TARGET, REAL_TARGET, VALUE_TARGET, Choice, Job, Traits
from hsiclasso.baselines.mrmr import MRMR
from hsiclasso.baselines.result import RankedFeature, RankingResult
from hsiclasso.data import as_source
from tests.columns import KINDS, make

TRAITS = Traits("Fixed", "linear", "greedy", "none", "high", REAL_TARGET, "n d")


class Fixed(Baseline):
    """Chooses what it is told to."""

    traits = TRAITS

    def __init__(
        self,
        n_features_to_select=None,
        *,
        order=(),
        scores=None,
        ties=None,
        fill=True,
        message="",
        refuse=False,
        many=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.order = order
        self.scores = scores
        self.ties = ties
        self.fill = fill
        self.message = message
        self.refuse = refuse
        self.many = many

    def _check(self):
        if self.refuse:
            raise InvalidInputError("refuse=True")

    @property
    def _many_blas_threads(self):
        return self.many

    def _choose(self, job):
        job.report("stage", 1, 2)
        job.report("stage", 2, 2)
        self.job_ = job
        self.threads_ = {pool["num_threads"] for pool in blas_pools()}
        scores = np.zeros(job.source.n_features) if self.scores is None else np.array(self.scores)
        ties = None if self.ties is None else np.array(self.ties)
        order = np.array(self.order, dtype=np.int64)
        return Choice(scores, ties, self.message, order, self.fill)


def blas_pools():
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((30, 6))
    return X, X[:, 0] + 0.1 * rng.standard_normal(30)


def fit(X, y, *args, **options):
    """Fit without warnings of fewer features, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return Fixed(*args, **options).fit(X, y)


class TestNumberOfFeatures:
    @pytest.mark.parametrize(("d", "expected"), [(1, 1), (6, 6), (10, 10), (11, 10), (40, 10)])
    def test_ten_or_all_by_default(self, d, expected, rng):
        X = rng.standard_normal((20, d))
        selector = fit(X, X[:, 0])
        assert selector.selected_.size == expected
        assert selector.result_.n_requested == expected
        assert selector.n_features_to_select is None

    @pytest.mark.parametrize("number", [1, 6, np.int64(3), np.uint8(2)])
    def test_any_whole_number(self, number, data):
        assert fit(*data, number).selected_.size == number

    @pytest.mark.parametrize("number", [0, -1, 2.0, True, "3", [2], np.float64(2)])
    def test_others_are_refused(self, number, data):
        with pytest.raises(
            InvalidInputError, match=r"n_features_to_select=.* must be a whole number >= 1"
        ):
            Fixed(number).fit(*data)

    def test_more_than_there_are(self, data):
        with pytest.raises(
            InvalidInputError,
            match=r"n_features_to_select=7 is greater than n_features=6: ask for at most 6",
        ):
            Fixed(7).fit(*data)


class TestRanking:
    def test_selected_first_then_by_score(self, data):
        selector = fit(*data, 2, order=[4, 1], scores=[3.0, -1.0, 5.0, 4.0, 0.0, 1.0])
        assert selector.selected_.tolist() == [4, 1]
        assert selector.ranking_.tolist() == [5, 2, 3, 4, 1, 6]
        assert selector.scores_.tolist() == [3.0, -1.0, 5.0, 4.0, 0.0, 1.0]
        assert selector.get_support(indices=True).tolist() == [1, 4]

    def test_more_than_wanted_are_cut_off(self, data):
        selector = Fixed(2, order=[5, 3, 1, 0]).fit(*data)
        assert selector.selected_.tolist() == [5, 3]

    def test_ties(self, data):
        selector = fit(*data, 3, scores=[0, 1, 0, 1, 0, 1], ties=[9, 2, 8, 3, 7, 2])
        assert selector.selected_.tolist() == [3, 1, 5]
        assert np.argsort(selector.ranking_).tolist() == [3, 1, 5, 0, 2, 4]
        assert np.argsort(fit(*data, 3).ranking_).tolist() == [0, 1, 2, 3, 4, 5]

    def test_filled(self, data):
        with pytest.warns(
            FewerFeaturesWarning,
            match=r"chose 1 features where 4 were asked for: 3 more are taken by .*\. Enough!",
        ):
            selector = Fixed(4, order=[2], scores=[1, 2, 0, 9, 8, 0], message="Enough!").fit(*data)
        assert selector.selected_.tolist() == [2, 3, 4, 1]
        assert [f.origin for f in selector.result_.features] == ["method", *["filled"] * 3]
        assert selector.result_.message == "Enough!"
        with pytest.warns(FewerFeaturesWarning, match="chose 3 features where 4 .*: 1 more are"):
            Fixed(4, order=[2, 0, 1]).fit(*data)

    def test_not_filled(self, data):
        selector = Fixed(4, order=[2, 5], scores=[1, 2, 0, 9, 8, 0], fill=False).fit(*data)
        assert selector.selected_.tolist() == [2, 5]
        assert np.argsort(selector.ranking_).tolist() == [2, 5, 3, 4, 1, 0]
        assert selector.transform(data[0]).shape == (30, 2)
        assert selector.result_.n_requested == 4
        # a method that counts itself may select more too
        assert Fixed(1, order=[2, 5, 0], fill=False).fit(*data).selected_.tolist() == [2, 5, 0]

    @given(st.integers(0, 9999))
    def test_always_a_permutation(self, seed):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 9))
        X = rng.standard_normal((12, d))
        constant = rng.uniform(size=d) < 0.3
        X[:, constant] = 1.0
        order = rng.permutation(d)[: rng.integers(0, d + 1)]
        wanted, fill = int(rng.integers(1, d + 1)), bool(rng.integers(2))
        scores = rng.integers(-2, 3, d).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = Fixed(wanted, order=order, scores=scores, fill=fill).fit(
                X, rng.normal(size=12)
            )
        assert sorted(selector.ranking_) == list(range(1, d + 1))
        ranked = np.argsort(selector.ranking_)
        assert ranked[: selector.selected_.size].tolist() == selector.selected_.tolist()
        by_method = [k for k in order if not constant[k]][: wanted if fill else None]
        assert selector.selected_[: len(by_method)].tolist() == by_method
        rest = ranked[len(by_method) :]
        assert (np.diff(constant[rest].astype(int)) >= 0).all()
        for group in (rest[~constant[rest]], rest[constant[rest]]):
            assert (np.diff(scores[group]) <= 0).all()
        size = min(wanted, np.count_nonzero(~constant)) if fill else len(by_method)
        assert selector.selected_.size == size
        assert not constant[selector.selected_].any()


class TestConstantColumns:
    @pytest.fixture
    def flat(self, data):
        X, y = data
        X[:, [1, 4]] = [3.0, 0.0]
        return X, y

    def test_never_selected(self, flat):
        with pytest.warns(
            ConstantFeatureWarning, match="2 of 6 columns do not vary and are not selected: x1, x4$"
        ):
            selector = fit(*flat, 3, order=[4, 2, 1, 0], scores=[0, 9, 0, 5, 9, 1])
        assert selector.selected_.tolist() == [2, 0, 3]
        assert np.argsort(selector.ranking_).tolist() == [2, 0, 3, 5, 1, 4]
        assert selector.result_.constant == ("x1", "x4")
        assert selector.job_.varies.tolist() == [True, False, True, True, False, True]

    def test_fewer_are_left_than_wanted(self, flat):
        with pytest.warns(ConstantFeatureWarning):
            selector = Fixed(6, order=[0, 2, 3, 5]).fit(*flat)
        assert sorted(selector.selected_) == [0, 2, 3, 5]
        assert selector.result_.n_requested == 6

    def test_nothing_is_left(self, flat):
        X, y = flat
        with pytest.warns(ConstantFeatureWarning, match="2 of 2 columns"):
            selector = Fixed().fit(X[:, [1, 4]], y)
        assert selector.selected_.size == 0
        assert selector.ranking_.tolist() == [1, 2]
        assert selector.result_.features == ()

    def test_only_five_are_named(self, data):
        X, y = data
        with pytest.warns(ConstantFeatureWarning, match=r"x0, x1, x2, x3, x4, \.\.\.$"):
            Fixed().fit(np.zeros_like(X), y)

    def test_of_every_kind(self, flat):
        X, y = flat
        with pytest.warns(ConstantFeatureWarning, match="x1, x4"):
            fit(sparse.csr_array(X), y)
        frame = pd.DataFrame({"word": ["a"] * 30, "flag": [True] * 30, "x": X[:, 0]})
        with pytest.warns(ConstantFeatureWarning, match="word, flag"):
            assert fit(frame, y).selected_.tolist() == [2]

    def test_many_blocks(self, monkeypatch, rng):
        monkeypatch.setattr("hsiclasso.baselines.base._BLOCK", 60)
        X = rng.standard_normal((20, 13))
        X[:, [0, 5, 12]] = 1.0
        X[19, 5] = 1 + 1e-15  # varies, if little
        with pytest.warns(ConstantFeatureWarning, match="2 of 13 columns .* x0, x12$"):
            fit(X, X[:, 1])


@pytest.mark.parametrize("by", ["fit", "fit_reporting"])
def test_warnings_point_at_the_caller(by, data):
    X, y = data
    X[:, 0] = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if by == "fit":
            Fixed(3).fit(X, y)
        else:
            Fixed(3).fit_reporting(X, y, lambda *_: None)
    assert [w.category for w in caught] == [ConstantFeatureWarning, FewerFeaturesWarning]
    assert {w.filename for w in caught} == {__file__}


class TestInput:
    @pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
    def test_values_that_are_not_finite(self, value, word, data):
        X, y = data
        X[3, 2] = value
        with pytest.raises(InvalidInputError, match=f"the first is {word} in column 'x2'"):
            Fixed().fit(X, y)
        with pytest.raises(InvalidInputError, match=word):
            Fixed().fit(sparse.csr_array(X), y)
        with pytest.raises(InvalidInputError, match=f"{word} in column 'c'"):
            Fixed().fit(pd.DataFrame(X, columns=list("abcdef")), y)

    @pytest.mark.parametrize("where", ["X", "y"])
    def test_advice_that_can_be_taken(self, where, data):
        X, y = data
        (X if where == "X" else y)[3] = np.nan
        with pytest.raises(InvalidInputError) as caught:
            Fixed().fit(X, y)
        # only the target may be missing here
        advice = {"X": "missing='ignore' to HSICLasso", "y": "target=Auto(missing='drop')"}[where]
        assert advice in str(caught.value)

    def test_no_target(self, data):
        with pytest.raises(InvalidInputError, match="requires y to be passed"):
            Fixed().fit(data[0])

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.zeros((2, 3)), "n_samples=2 .*3 samples or more"),
            (np.zeros((5, 0)), "0 feature"),
            (np.zeros(5), "Expected 2D array"),
            ([["a", "b"]] * 4, "not numbers"),
        ],
        ids=["two samples", "no feature", "one dimension", "text"],
    )
    def test_tables_of_the_wrong_shape(self, X, message):
        with pytest.raises(ValueError, match=message):
            Fixed().fit(X, np.arange(len(X)))

    @pytest.mark.parametrize("n", [29, 31])
    def test_targets_of_another_length(self, n, data):
        with pytest.raises(InvalidInputError, match=f"y has {n} values and X has 30 samples"):
            Fixed().fit(data[0], np.arange(float(n)))

    def test_parameters_are_checked_before_the_data(self):
        with pytest.raises(InvalidInputError, match="refuse=True"):
            Fixed(refuse=True).fit("no table", None)
        with pytest.raises(InvalidInputError, match="n_features_to_select"):
            Fixed(0, refuse=True).fit("no table", None)

    def test_targets_that_are_not_served(self, data):
        X, _ = data
        with pytest.raises(
            InvalidInputError,
            match="kind 'classes', but Fixed serves only real, ordinal, counts: use",
        ):
            Fixed().fit(X, np.repeat(["a", "b"], 15))
        with pytest.raises(InvalidInputError, match="kind 'labels'"):
            Fixed().fit(X, np.tile([[0, 1], [1, 1], [1, 0]], (10, 1)))

    def test_samples_without_a_target_are_dropped_if_asked_for(self, data):
        X, y = data
        holes = y.copy()
        holes[[3, 8]] = np.nan
        X[8, 2] = np.nan  # it is in no sample that is used
        with pytest.raises(InvalidInputError, match="Input y contains NaN"):
            MRMR(3).fit(X, holes)
        found = MRMR(3, target=Real(missing="drop")).fit(X, holes)
        seen = ~np.isnan(holes)
        alone = MRMR(3, target="real").fit(X[seen], y[seen])
        assert found.result_.n_samples == 28
        np.testing.assert_array_equal(found.scores_, alone.scores_)

    @pytest.mark.parametrize("method", [LassoPath, SpAM, MRMR, FVM, MIRanking])
    def test_a_kernel_of_the_target_that_is_not_used_is_refused(self, method, data):
        for target in (Real("laplace"), Auto(Gaussian(2.0))):
            with pytest.raises(InvalidInputError, match=r"target's kernel=.* has no meaning with"):
                method(2, target=target).fit(*data)

    def test_labels_where_numbers_are_needed(self, data):
        X, y = data
        frame = pd.DataFrame({"x": X[:, 0], "flag": X[:, 1] > 0, "town": ["a", "b", "c"] * 10})
        job = fit(frame, y).job_
        for needs_numbers in (job.check_numbers, job.standardised):
            with pytest.raises(
                InvalidInputError, match="column 'town' holds labels, but Fixed needs numbers"
            ):
                needs_numbers()
        frame["town"] = frame["town"].astype("category")
        with pytest.raises(InvalidInputError, match="column 'town' holds labels"):
            fit(frame, y).job_.check_numbers()
        fit(frame[["x", "flag"]], y).job_.check_numbers()

    def test_nothing_is_written_to(self, data):
        X, y = np.asfortranarray(data[0]), data[1]
        before = X.copy(), y.copy()
        X.flags.writeable = y.flags.writeable = False
        fit(X, y).job_.standardised()
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(y, before[1])

    def test_a_failed_fit_leaves_nothing(self, data):
        selector = Fixed()
        with pytest.raises(InvalidInputError):
            selector.fit(data[0], ["a", "b", "c"] * 10)
        assert not hasattr(selector, "selected_")

    def test_a_failed_fit_is_no_fit(self, data):
        selector = Fixed()
        with pytest.raises(InvalidInputError):
            selector.fit(data[0], ["a", "b", "c"] * 10)
        with pytest.raises(NotFittedError):
            selector.transform(data[0])


class TestStandardised:
    @pytest.mark.parametrize("kind", sorted(KINDS))
    @given(st.integers(5, 90), st.integers(0, 9999))
    def test_mean_and_variance(self, kind, n, seed):
        x = make(kind, n, seed)
        table = np.column_stack([x, -x])
        job = Job(as_source(table), None, 1, np.ones(table.shape[1], bool), TRAITS, lambda *_: None)
        found = job.standardised()
        assert found.flags.f_contiguous
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-9)
        scaled = x / np.abs(x).max()
        expected = (scaled - scaled.mean()) / scaled.std()
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found[:, 1], -expected, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("shift", [1e15, 5e-324 * 10])
    def test_large_shift(self, shift, rng):
        unit = 1.0 if shift > 1 else 5e-324
        X = shift + unit * rng.integers(0, 8, (1000, 4))
        job = Job(as_source(X), None, 1, np.ones(4, dtype=bool), TRAITS, lambda *_: None)
        found = job.standardised()
        np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-9)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)

    def test_constant_columns_are_zero(self, data):
        X, y = data
        X[:, 2] = 0.1
        with pytest.warns(ConstantFeatureWarning):
            found = fit(X, y).job_.standardised()
        assert (found[:, 2] == 0).all()
        np.testing.assert_allclose(np.delete(found, 2, axis=1).std(axis=0), 1)


class TestNames:
    @pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
    def test_frames(self, library, data):
        X, y = data
        frame = library.DataFrame({f"gene{j}": X[:, j] for j in range(6)})
        selector = Fixed(2, order=[4, 1]).fit(frame, y)
        assert selector.result_.names == ("gene4", "gene1")
        assert selector.feature_names_in_.tolist() == [f"gene{j}" for j in range(6)]
        assert selector.get_feature_names_out().tolist() == ["gene1", "gene4"]

    def test_arrays(self, data):
        selector = Fixed(2, order=[4, 1]).fit(*data)
        assert selector.result_.names == ("x4", "x1")
        assert not hasattr(selector, "feature_names_in_")
        assert selector.get_feature_names_out().tolist() == ["x1", "x4"]
        assert selector.n_features_in_ == 6

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_set_output(self, library, data):
        X, y = data
        frame = pd.DataFrame(X, columns=list("abcdef"))
        selector = Fixed(2, order=[4, 1]).set_output(transform=library).fit(frame, y)
        out = selector.transform(frame)
        assert type(out).__module__.split(".")[0] == library
        assert list(out.columns) == ["b", "e"]

    def test_transform(self, data):
        X, y = data
        selector = Fixed(2, order=[4, 1]).fit(X, y)
        np.testing.assert_array_equal(selector.transform(X), X[:, [1, 4]])
        np.testing.assert_array_equal(
            selector.transform(sparse.csr_array(X)).toarray(), X[:, [1, 4]]
        )
        assert selector.inverse_transform(selector.transform(X)).shape == X.shape
        with pytest.raises(ValueError, match="5 features"):
            selector.transform(X[:, :5])


class TestScikitLearn:
    def test_clone_and_pickle(self, data):
        selector = MRMR(3, scheme="quotient", n_jobs=1).fit(*data)
        again = pickle.loads(pickle.dumps(selector))
        assert again.result_ == selector.result_
        np.testing.assert_array_equal(again.ranking_, selector.ranking_)
        copy = clone(selector)
        assert copy.get_params() == selector.get_params()
        assert not hasattr(copy, "selected_")
        assert copy.fit(*data).result_ == selector.result_

    def test_pipeline_and_grid_search(self, data):
        pipeline = make_pipeline(MRMR(n_jobs=1), LinearRegression())
        grid = {"mrmr__n_features_to_select": [1, 2]}
        search = GridSearchCV(pipeline, grid, cv=2).fit(*data)
        assert search.best_estimator_[0].selected_[0] == 0
        assert search.best_estimator_.predict(data[0]).shape == (30,)

    def test_fitting_again_forgets(self, data):
        X, y = data
        selector = MRMR(2, n_jobs=1).fit(pd.DataFrame(X, columns=list("abcdef")), y)
        selector.fit(X[:, 1:4], X[:, 2])
        assert selector.ranking_.shape == selector.scores_.shape == (3,)
        assert selector.n_features_in_ == 3
        assert not hasattr(selector, "feature_names_in_")

    def test_tags(self):
        tags = get_tags(Fixed())
        assert tags.target_tags.required
        assert tags.input_tags.sparse
        assert not tags.input_tags.allow_nan
        assert not tags.target_tags.multi_output
        assert get_tags(MRMR()).target_tags.multi_output

    def test_tag_of_categories(self):
        assert get_tags(MRMR()).input_tags.categorical
        assert not get_tags(MRMR(measure="f")).input_tags.categorical


class TestProgress:
    def test_reported(self, data):
        told = []
        selector = Fixed(2, order=[0, 1])
        assert selector.fit_reporting(*data, lambda *words: told.append(words)) is selector
        assert told == [("stage", 1, 2), ("stage", 2, 2)]

    def test_the_same_result_as_fit(self, data):
        told = []
        found = MRMR(3, n_jobs=1).fit_reporting(*data, lambda *words: told.append(words))
        assert found.result_ == MRMR(3, n_jobs=1).fit(*data).result_
        assert [words for words in told if words[0] == "features"] == [
            ("features", k, 3) for k in (1, 2, 3)
        ]

    def test_logged(self, data, caplog):
        with caplog.at_level(logging.DEBUG, logger="hsiclasso"):
            Fixed(2, order=[0, 1]).fit(*data)
        assert [record.getMessage() for record in caplog.records] == [
            "Fixed: stage 1 of 2", "Fixed: stage 2 of 2",
        ]  # fmt: skip

    def test_an_interruption_passes_through(self, data):
        def stop(*_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Fixed().fit_reporting(*data, stop)


def test_threads_of_matrix_products(data):
    if not blas_pools():
        pytest.skip("threads of BLAS are not known")
    with threadpool_limits(2, user_api="blas"):
        assert fit(*data).threads_ == {1}
        assert fit(*data, many=True).threads_ == {2}
        assert {pool["num_threads"] for pool in blas_pools()} == {2}


class TestResult:
    @pytest.fixture
    def result(self, data):
        X, y = data
        X[:, 5] = 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.DataFrame(X, columns=list("abcdef"))
            return (
                Fixed(3, order=[4, 1], scores=[1, 2, 3, 4.5, 0, 0], message="Done.")
                .fit(frame, y)
                .result_
            )

    def test_fields(self, result):
        assert result == RankingResult(
            features=(
                RankedFeature("e", 4, 0.0, "method"),
                RankedFeature("b", 1, 2.0, "method"),
                RankedFeature("d", 3, 4.5, "filled"),
            ),
            method="Fixed",
            target="real",
            n_samples=30,
            n_features=6,
            n_requested=3,
            message="Done.",
            constant=("f",),
        )

    def test_json(self, result):
        read = json.loads(result.to_json())
        features = tuple(RankedFeature(**feature) for feature in read.pop("features"))
        constant = tuple(read.pop("constant"))
        assert RankingResult(features=features, constant=constant, **read) == result
        assert "\n" not in result.to_json(indent=None)

    def test_rows_and_frame(self, result):
        rows = result.to_rows()
        assert rows[2] == {"rank": 3, "name": "d", "index": 3, "score": 4.5, "origin": "filled"}
        frame = result.to_frame()
        assert frame.to_dict("records") == rows
        empty = RankingResult((), "Fixed", "regression", 3, 1, 1, "", ("x0",)).to_frame()
        assert list(empty.columns) == list(frame.columns)
        assert len(empty) == 0

    def test_json_of_infinite_scores(self, data):
        selector = fit(*data, 1, order=[0], scores=[np.inf, 0, 7, 0, 0, -np.inf])
        (feature,) = json.loads(selector.result_.to_json())["features"]
        assert feature["score"] == selector.scores_[0] == np.finfo(float).max
        assert np.argsort(selector.ranking_).tolist() == [0, 2, 1, 3, 4, 5]


def test_by_score():
    scores = np.array([0.0, 3.0, 1.0, 3.0, 1.0, 0.0, -1.0])
    ties = np.array([9.0, 1.0, 2.0, 0.0, 5.0, 8.0, 9.0])
    assert by_score(scores, ties).tolist() == [1, 3, 4, 2]
    assert by_score(scores).tolist() == [1, 3, 2, 4]
    assert by_score(np.zeros(3)).tolist() == []


def test_traits():
    assert not TRAITS.structured
    assert Traits("Any", "linear", "greedy", "none", "high", ANY_TARGET, "n").structured
    assert set(REAL_TARGET) < set(VALUE_TARGET) < set(ANY_TARGET)
    with pytest.raises(AttributeError):
        TRAITS.title = "other"


def test_a_method_must_choose(data):
    class Lazy(Fixed):
        _choose = Baseline._choose

    with pytest.raises(NotImplementedError):
        Lazy().fit(*data)
