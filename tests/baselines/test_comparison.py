"""Several methods on one table, and the registry of them all."""

from __future__ import annotations

import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest

import hsiclasso.baselines as baselines
from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    make_data1,
)
from hsiclasso.baselines import BASELINES, METHODS, MRMR, compare, traits_of
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.comparison import Comparison, Outcome
from hsiclasso.baselines.job import ANY_TARGET, Traits
from hsiclasso.baselines.rankings import HSICRanking, MIRanking
from tests.baselines.conftest import quiet_fit

QUICK = ["hsic_lasso", "mrmr", "mi_ranking", "lasso"]
LABELS = {
    "dependency": {"linear", "additive non-linear", "non-linear"},
    "optimization": {"convex", "convex after a shift", "non-convex", "greedy", "one by one"},
    "form": {"primal", "dual", "none"},
    "scalability": {"high", "medium", "low"},
}


@pytest.fixture(scope="module")
def data():
    return make_data1(100, 12, random_state=0)


@pytest.fixture(scope="module")
def quick(data):
    X, y, _ = data
    return compare(X, y, 4, methods=QUICK)


class TestCompare:
    def test_what_the_methods_select_by_themselves(self, quick, data):
        X, y, _ = data
        assert [outcome.method for outcome in quick.outcomes] == QUICK
        assert quick.ran == quick.outcomes
        for outcome in quick.outcomes:
            alone = METHODS[outcome.method](4).fit(X, y)
            scores = alone.coef_ if outcome.method == "hsic_lasso" else alone.scores_
            assert outcome.indices == tuple(alone.selected_)
            assert outcome.features == tuple(f"x{k}" for k in alone.selected_)
            assert outcome.scores == pytest.approx(scores[alone.selected_])
            assert outcome.title == traits_of(outcome.method).title
            assert outcome.skipped == ""
            assert outcome.seconds > 0
        assert (quick.n_samples, quick.n_features, quick.n_requested) == (100, 12, 4)

    def test_redundancy_by_hand(self, quick, data):
        X, _, _ = data
        for outcome in quick.outcomes:
            pairs = [
                abs(np.corrcoef(X[:, a], X[:, b])[0, 1])
                for place, a in enumerate(outcome.indices)
                for b in outcome.indices[:place]
            ]
            assert outcome.redundancy == pytest.approx(np.mean(pairs))

    def test_redundancy_needs_a_pair_of_numbers(self, data):
        X, y, _ = data
        assert compare(X, y, 1, methods=["mrmr"]).outcomes[0].redundancy is None
        frame = pd.DataFrame({"x": X[:, 0], "town": np.array(list("ab"))[np.arange(100) % 2]})
        assert compare(frame, y, 2, methods=["mrmr"]).outcomes[0].redundancy is None

    def test_names(self, data):
        X, y, _ = data
        frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)])
        (outcome,) = compare(frame, y, 3, methods=["mrmr"]).outcomes
        assert outcome.features == tuple(f"gene{j}" for j in outcome.indices)

    def test_one_name(self, data):
        X, y, _ = data
        found = compare(X, y, 2, methods="mrmr")
        assert [outcome.method for outcome in found.outcomes] == ["mrmr"]
        twice = compare(X, y, 2, methods=["mrmr", "mrmr"])
        assert len(twice.outcomes) == 1

    def test_the_table_is_not_written_to(self, data):
        X, y = data[0].copy(), data[1].copy()
        X.flags.writeable = y.flags.writeable = False
        compare(X, y, 2, methods=QUICK)
        np.testing.assert_array_equal(X, data[0])

    def test_estimators_of_ones_own(self, data):
        X, y, _ = data
        own = {"fine": MRMR(7, bins="quantile"), "coarse": MRMR(n_jobs=1), "wide": HSICLasso()}
        found = compare(X, y, 3, methods=own)
        assert [outcome.title for outcome in found.outcomes] == ["fine", "coarse", "wide"]
        expected = MRMR(3, bins="quantile").fit(X, y).selected_
        assert found.outcomes[0].indices == tuple(expected)
        # they are copied: what was given stays as it was
        assert own["fine"].n_features_to_select == 7
        assert not hasattr(own["fine"], "selected_")

    def test_estimators_under_the_name_of_another(self, data):
        X, y, _ = data
        (outcome,) = compare(X, y, 2, methods={"mrmr": MIRanking()}).outcomes
        assert outcome.title != "mRMR"

    def test_estimators_without_a_number_of_features(self, data):
        X, y, _ = data
        found = compare(X, y, 2, methods={"best": SelectKBest(), "mrmr": MRMR()})
        assert "n_features_to_select" in found.outcomes[0].skipped
        assert len(found.ran) == 1

    def test_progress(self, data):
        X, y, _ = data
        told = []
        compare(X, y, 2, methods=["hsic_lasso", "mrmr"], report=lambda *words: told.append(words))
        assert [words for words in told if words[0] == "methods"] == [
            ("methods", 0, 2), ("methods", 1, 2), ("methods", 2, 2),
        ]  # fmt: skip
        assert ("mRMR: features", 2, 2) in told
        assert ("HSIC Lasso", 0, 0) in told
        assert told[-1] == ("methods", 2, 2)


class TestSkipped:
    def test_targets_that_a_method_does_not_serve(self, data):
        X, _, _ = data
        y = np.array(
            [(1 + abs(x), x > -1) for x in X[:, 0]], dtype=[("time", float), ("event", bool)]
        )
        found = compare(X, y, 3, methods=["hsic_lasso", "hsic_ranking", "lasso", "mrmr"])
        assert [bool(outcome.skipped) for outcome in found.outcomes] == [False, False, True, True]
        lasso = found.outcomes[2]
        assert "'survival'" in lasso.skipped
        assert (lasso.features, lasso.indices, lasso.scores) == ((), (), ())
        assert lasso.redundancy is None
        assert {outcome.method for outcome in found.ran} == {"hsic_lasso", "hsic_ranking"}
        assert found.agreement().shape == (2, 2)
        assert {row["method"] for row in found.to_rows()} == {"hsic_lasso", "hsic_ranking"}
        json.loads(found.to_json())

    def test_tables_that_a_method_does_not_serve(self, data):
        X, y, _ = data
        frame = pd.DataFrame({"x": X[:, 0], "town": np.array(list("ab"))[np.arange(100) % 2]})
        found = compare(frame, y, 1, methods=["mrmr", "lasso"])
        assert found.outcomes[0].skipped == ""
        assert "column 'town' holds labels" in found.outcomes[1].skipped

    def test_options_that_a_method_does_not_have(self, data):
        X, y, _ = data
        found = compare(X, y, 3, methods=["mrmr", "lasso"], options={"bins": "quantile"})
        assert found.outcomes[0].indices == tuple(MRMR(3, bins="quantile").fit(X, y).selected_)
        assert "bins='quantile' is given, but" in found.outcomes[1].skipped

    def test_a_kernel_of_the_target_that_a_method_does_not_use(self, data):
        X, y, _ = data
        options = {"target": Auto("laplace")}
        found = compare(X, y, 3, methods=["mrmr", "lasso", "ckta"], options=options)
        assert "the target's kernel='laplace' has no meaning with" in found.outcomes[0].skipped
        assert "the target's kernel='laplace' has no meaning with" in found.outcomes[1].skipped
        assert found.outcomes[2].features

    def test_options_are_given_to_all_who_have_them(self, data):
        X, y, _ = data
        y = np.exp(y)
        options = {"target": Auto(transform="rank")}
        found = compare(X, y, 3, methods=["hsic_lasso", "mrmr", "hsic_ranking"], options=options)
        for outcome, method in zip(found.outcomes, (HSICLasso, MRMR, HSICRanking), strict=True):
            alone = method(3, target=Auto(transform="rank")).fit(X, y)
            assert outcome.indices == tuple(alone.selected_)

    def test_only_errors_of_input_are_reasons(self, data, monkeypatch):
        X, y, _ = data

        def broken(self, job):
            raise RuntimeError("a bug")

        monkeypatch.setattr(MIRanking, "_choose", broken)
        with pytest.raises(RuntimeError, match="a bug"):
            compare(X, y, 3, methods=["mrmr", "mi_ranking"])


class TestErrors:
    def test_no_method_is_left(self, data):
        X, y, _ = data
        spoilt = np.append(np.nan, y[1:])
        with pytest.raises(InvalidInputError, match="none of the 2 methods can run; the first, mR"):
            compare(X, spoilt, 2, methods=["mrmr", "lasso"])
        with pytest.raises(InvalidInputError, match=r"^SpAM: y is a target of the kind 'class"):
            compare(X, y > 0, 2, methods=["spam"])

    def test_unknown_names(self, data):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match=r"methods has 'mrmrr', which is unknown.*mrmr"):
            compare(X, y, 2, methods=["mrmr", "mrmrr"])
        with pytest.raises(InvalidInputError, match="methods is empty"):
            compare(X, y, 2, methods=[])
        with pytest.raises(InvalidInputError, match="methods is empty"):
            compare(X, y, 2, methods={})
        with pytest.raises(InvalidInputError, match="options has 'colour', which no method has"):
            compare(X, y, 2, methods=["mrmr"], options={"colour": "red"})

    @pytest.mark.parametrize("number", [0, -3, 2.5, "4", True])
    def test_number_of_features(self, number, data):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match=r"n_features_to_select=.* whole number >= 1"):
            compare(X, y, number, methods=["mrmr"])

    def test_more_than_there_are(self, data):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match="=13 is greater than n_features=12"):
            compare(X, y, 13, methods=["mrmr"])

    @pytest.mark.parametrize(("d", "expected"), [(12, 10), (5, 5)])
    def test_ten_or_all_by_default(self, d, expected, data):
        X, y, _ = data
        found = compare(X[:, :d], y, methods=["mrmr"])
        assert found.n_requested == len(found.outcomes[0].indices) == expected

    def test_the_number_is_given_once(self, data):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match="n_features_to_select"):
            compare(X, y, 4, methods=["mrmr"], options={"n_features_to_select": 2})

    def test_errors_before_the_first_fit(self, data, monkeypatch):
        monkeypatch.setattr(MRMR, "fit", lambda *_: pytest.fail("too early"))
        monkeypatch.setattr(MRMR, "fit_reporting", lambda *_: pytest.fail("too early"))
        with pytest.raises(InvalidInputError):
            compare(data[0], data[1], 2, methods=["mrmr", "nonsense"])


def outcome(method, *names, skipped=""):
    indices = tuple(int(name[1:]) for name in names)
    scores = tuple(float(len(names) - k) for k in range(len(names)))
    return Outcome(method, method.upper(), names, indices, scores, 0.5, None, skipped)


class TestComparison:
    @pytest.fixture
    def three(self):
        return Comparison(
            (
                outcome("a", "x1", "x2", "x3"),
                outcome("b", "x3", "x1"),
                outcome("c", skipped="no reason"),
                outcome("d", "x9"),
            ),
            n_samples=50, n_features=10, n_requested=3,
        )  # fmt: skip

    def test_votes_and_ranks(self, three):
        assert list(three.votes().items()) == [("x1", 2), ("x3", 2), ("x9", 1), ("x2", 1)]
        assert three.ranks()["x3"] == {"a": 3, "b": 1}
        assert list(three.ranks()) == list(three.votes())

    def test_agreement(self, three):
        # {1, 2, 3} and {1, 3}: two of three; {9} shares nothing
        expected = [[1, 2 / 3, 0], [2 / 3, 1, 0], [0, 0, 1]]
        np.testing.assert_allclose(three.agreement(), expected)

    def test_rows_and_frame(self, three):
        rows = three.to_rows()
        assert len(rows) == 6
        assert rows[3] == {"method": "b", "rank": 1, "name": "x3", "index": 3, "score": 2.0}
        assert three.to_frame().to_dict("records") == rows

    def test_json(self, three):
        read = json.loads(three.to_json())
        made = tuple(
            Outcome(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()})
            for one in read.pop("outcomes")
        )
        assert Comparison(made, **read) == three

    def test_nothing_ran(self):
        empty = Comparison((outcome("c", skipped="no reason"),), 5, 2, 1)
        assert empty.votes() == {}
        assert empty.agreement().shape == (0, 0)
        assert empty.to_rows() == []
        assert list(empty.to_frame().columns) == ["method", "rank", "name", "index", "score"]

    def test_json_of_a_real_comparison(self, quick):
        read = json.loads(quick.to_json())
        assert [one["method"] for one in read["outcomes"]] == QUICK
        assert read["n_requested"] == 4

    def test_huge_values(self, data, quick):
        X, y, _ = data
        (found,) = compare(X * 2.0**700, y, 4, methods=["hsic_lasso"]).outcomes
        assert found.redundancy == pytest.approx(quick.outcomes[0].redundancy)


@pytest.fixture(scope="module")
def fitted(data):
    """Every method, fitted on its first use."""
    X, y, _ = data
    made = {}

    def get(name):
        if name not in made:
            made[name] = quiet_fit(BASELINES[name](5), X, y)
        return made[name]

    return get


class TestRegistry:
    """Every method of the comparison is there, and is what it says."""

    def test_names(self):
        assert set(BASELINES) == {
            "lasso", "mrmr", "greedy_hsic", "hsfs", "fvm", "qpfs", "kta", "ckta", "spam",
            "forward_selection", "hsic_ranking", "mi_ranking",
        }  # fmt: skip
        assert list(METHODS)[:3] == ["embedding_lasso", "hsic_lasso", "nocco_lasso"]
        assert list(METHODS)[3:] == list(BASELINES)
        assert METHODS["hsic_lasso"] is HSICLasso
        assert METHODS["nocco_lasso"] is NOCCOLasso
        titles = [traits_of(name).title for name in METHODS]
        assert len(set(titles)) == len(titles)
        with pytest.raises(TypeError):
            BASELINES["mine"] = MRMR

    def test_public_names(self):
        assert set(dir(baselines)) == set(baselines.__all__)
        assert all(getattr(baselines, name) is not None for name in baselines.__all__)
        assert {method.__name__ for method in BASELINES.values()} <= set(baselines.__all__)
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            baselines.nonsense  # noqa: B018

    @pytest.mark.parametrize("name", list(METHODS))
    def test_traits(self, name):
        traits = traits_of(name)
        assert isinstance(traits, Traits)
        assert traits.title
        assert traits.cost
        for field, allowed in LABELS.items():
            assert getattr(traits, field) in allowed
        assert traits.targets
        assert set(traits.targets) <= set(ANY_TARGET)
        assert "real" in traits.targets or "classes" in traits.targets

    def test_traits_of_an_unknown_method(self):
        with pytest.raises(InvalidInputError, match="'mrmrr'"):
            traits_of("mrmrr")

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_parameters_and_docstring(self, name):
        method = BASELINES[name]
        assert issubclass(method, Baseline)
        params = method().get_params()
        assert next(iter(method.__init__.__annotations__)) == "n_features_to_select"
        assert params["n_features_to_select"] is None
        assert method(3).get_params() == params | {"n_features_to_select": 3}
        with pytest.raises(TypeError):
            method(3, 4)  # all others by name
        copy = clone(method(2))
        assert copy.get_params() == params | {"n_features_to_select": 2}
        doc = method.__doc__
        for section in ("Parameters", "Attributes", "References", "Examples"):
            assert re.search(rf"^    {section}\n    -+$", doc, re.MULTILINE), section
        for param in params:
            assert re.search(rf"\b{param}\b", doc), param
        assert "%(" not in doc  # shared entries are filled in

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_fits_and_ranks(self, name, fitted, data):
        X, _, causal = data
        selector = fitted(name)
        assert selector.selected_.shape == (5,)
        assert selector.selected_.dtype.kind == "i"
        assert sorted(selector.ranking_) == list(range(1, 13))
        np.testing.assert_array_equal(selector.ranking_[selector.selected_], np.arange(1, 6))
        assert selector.scores_.shape == (12,)
        assert np.isfinite(selector.scores_).all()
        assert selector.n_features_in_ == 12
        result = selector.result_
        assert result.names == tuple(f"x{k}" for k in selector.selected_)
        assert [f.score for f in result.features] == pytest.approx(
            selector.scores_[selector.selected_]
        )
        assert result.method == traits_of(name).title
        assert result.target == "real"
        assert (result.n_samples, result.n_features, result.n_requested) == (100, 12, 5)
        json.loads(result.to_json())
        assert selector.transform(X).shape == (100, 5)
        # five of twelve by chance hold 1.7 of the causal four
        assert len(set(selector.selected_) & set(causal)) >= 2

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_documented_attributes_are_set(self, name, fitted):
        part = BASELINES[name].__doc__.split("Attributes\n")[1]
        part = re.split(r"\n    [A-Z][a-z ]+\n    ---", part.split("\n", 1)[1])[0]
        lines = [line.strip() for line in part.split("\n") if re.match(r"    \w", line)]
        names = re.findall(r"\b\w+_\b", " ".join(line.split(" : ")[0] for line in lines))
        assert {"scores_", "ranking_", "selected_", "result_"} <= set(names)
        for attribute in set(names) - {"feature_names_in_"}:
            assert hasattr(fitted(name), attribute), attribute

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_constant_columns_are_not_selected(self, name, data):
        X, y, _ = data
        X = X.copy()
        X[:, [2, 7]] = [0.0, 3.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            with pytest.warns(ConstantFeatureWarning, match="x2, x7"):
                selector = BASELINES[name](11).fit(X, y)
        assert set(selector.selected_) == set(range(12)) - {2, 7}
        assert np.isfinite(selector.scores_).all()

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_targets_are_served_as_declared(self, name, data):
        """What a method declares it takes, with its defaults or not, and nothing else."""
        X, y, _ = data
        served = traits_of(name).targets
        targets = {
            "real": y,
            "classes": np.where(y > np.median(y), "high", "low"),
            "labels": np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int),
            "survival": np.array(
                [(abs(v), v > -2) for v in y], dtype=[("time", float), ("event", bool)]
            ),
        }
        for kind, target in targets.items():
            method = BASELINES[name](3)
            if kind == "survival" and name == "mrmr":
                method.set_params(measure="hsic")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FewerFeaturesWarning)
                if kind not in served:
                    with pytest.raises(InvalidInputError, match=f"'{kind}'.* serves only"):
                        method.fit(X, target)
                    continue
                if kind == "survival" and name not in ("mrmr", "hsic_ranking"):
                    try:
                        method.fit(X, target)
                    except InvalidInputError as error:
                        assert "kernel" in str(error) or "survival" in str(error)  # noqa: PT017
                        continue
                method.fit(X, target)
            assert method.selected_.size == 3
            assert method.result_.target == kind

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_what_does_not_matter(self, name, fitted, data):
        """Sparse or not, with names or not, read-only, the number of threads, stored or not."""
        X, y, _ = data
        frozen = X.copy()
        frozen.flags.writeable = False
        frame = pd.DataFrame(X, columns=[f"gene{k}" for k in range(12)])
        first = clone(fitted(name))
        if "random_state" in first.get_params():
            first.set_params(random_state=0)
        if "n_jobs" in first.get_params():
            first.set_params(n_jobs=1)
        first, again = quiet_fit(first, X, y), quiet_fit(clone(first), X, y)
        for table, n_jobs in ((sparse.csr_array(X), 1), (frame, 2), (frozen, 1)):
            other = clone(first)
            if "n_jobs" in other.get_params():
                other.set_params(n_jobs=n_jobs)
            other = pickle.loads(pickle.dumps(quiet_fit(other, table, y)))
            assert other.selected_.tolist() == first.selected_.tolist()
            np.testing.assert_allclose(other.scores_, first.scores_, rtol=1e-9, atol=1e-12)
            if table is frame and name not in ("kta", "ckta", "hsic_ranking", "mi_ranking"):
                np.testing.assert_array_equal(other.scores_, first.scores_)  # on two threads
            assert (table is not frozen) or (other.scores_ == again.scores_).all()
            if table is frame:
                assert other.result_.names == tuple(f"gene{k}" for k in first.selected_)
                assert other.get_feature_names_out().tolist() == [
                    f"gene{k}" for k in sorted(first.selected_)
                ]

    @pytest.mark.parametrize("name", list(BASELINES))
    def test_labels_are_taken_or_refused(self, name, data):
        X, y, _ = data
        words = np.where(y > np.median(y), "high", "low")
        frame = pd.DataFrame({"x": X[:, 5], "z": X[:, 7], "word": words})
        method = BASELINES[name](1)
        if method._takes_labels():
            assert quiet_fit(method, frame, y).result_.names == ("word",)
        else:
            with pytest.raises(InvalidInputError, match="column 'word' holds labels, but"):
                method.fit(frame, y)

    def test_all_methods_at_once(self, data):
        X, y, causal = data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            found = compare(X, y, 4)
        assert [outcome.method for outcome in found.outcomes] == list(METHODS)
        assert found.ran == found.outcomes
        best = list(found.votes())[:4]
        assert len({f"x{k}" for k in causal} & set(best)) >= 3
        agreement = found.agreement()
        np.testing.assert_allclose(np.diag(agreement), 1)
        np.testing.assert_allclose(agreement, agreement.T)


def test_a_target_by_its_name(rng, tmp_path):
    """A column that is the target is no feature, and the names of the others stay right."""
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=["y", "a", "b", "c"])
    frame["y"] = frame["b"] ** 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    methods = ["hsic_lasso", "hsic_ranking", "lasso"]
    expected = compare(frame[["a", "b", "c"]], frame["y"], 2, methods=methods)
    for X in (frame, tmp_path / "t.csv"):
        found = compare(X, "y", 2, methods=methods)
        assert found.n_features == 3
        assert [one.features for one in found.ran] == [one.features for one in expected.ran]
    assert expected.ran[0].features[0] == "b"
