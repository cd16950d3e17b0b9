"""What reports say, and what they leave out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hsiclasso import EmbeddingLasso, GroupLasso, HSICLasso, make_data1
from hsiclasso.plots.seen import Column, Numbers, Seen
from hsiclasso.report.sentences import certificate_words, found_words, notes_of
from hsiclasso.report.shapes import draw_shape
from tests.report.helpers import fitted, pictures, read


@pytest.fixture(scope="module")
def result():
    X, y, _ = make_data1(80, 12, random_state=0)
    return fitted(X, y, 5).result_


class TestFound:
    def test_names_the_heaviest(self, result):
        words = " ".join(found_words(result, "dose"))
        assert words.startswith("5 features on whose values dose depends were selected on 80")
        share = sum(feature.share for feature in result.features[:3])
        assert f"{result.names[2]} weigh most: {share:.0%} of all weight." in words
        assert "last ones may have been selected by chance" in words

    def test_of_few_features(self, result):
        one = replace(result, features=result.features[:1])
        assert f"It is {result.names[0]}." in found_words(one, "dose")
        two = replace(result, features=result.features[:2])
        assert f"They are {result.names[0]} and {result.names[1]}." in found_words(two, "dose")
        flat = tuple(replace(f, weight=0.0, share=0.0) for f in result.features)
        assert "weigh" not in " ".join(found_words(replace(result, features=flat), "dose"))

    def test_another_order_is_not_one_of_weights(self, result):
        turned = replace(result, features=result.features[::-1])
        assert "would be dropped last" in " ".join(found_words(turned, "dose"))

    @pytest.mark.parametrize(
        ("kind", "words"),
        [("classes", "classes of dose"), ("survival", "survival (dose)"), ("graph", "links")],
    )
    def test_of_each_kind_of_target(self, result, kind, words):
        method = replace(result.method, target=kind)
        assert words in found_words(replace(result, method=method), "dose")[0]


class TestNotes:
    def test_of_a_clean_selection_there_are_none(self, result):
        assert notes_of(result) == []

    def test_say_what_was_left_out(self, result):
        data = replace(result.data, n_dropped=1, few_observed=("rare",), constant=tuple("abcdefgh"))
        solution = replace(result.solution, status="STALLED", n_requested=9)
        notes = " ".join(notes_of(replace(result, data=data, solution=solution)))
        for words in (
            "1 sample without a target",
            "8 features with only one value left out: a, b, c, d, e and 3 more.",
            "1 feature with too many missing values left out: rare.",
            "9 features were asked for, and 5 selected.",
            "stopped before the optimum",
        ):
            assert words in notes

    def test_of_pairs_that_were_not_excluded(self, rng):
        X = rng.standard_normal((60, 5))
        found = HSICLasso(2, interactions="all").fit(X, X[:, 0] * X[:, 1]).result_
        some = replace(found.interactions, complete=False, n_open=3)
        notes = notes_of(replace(found, interactions=some))
        assert any("not compared in full" in note for note in notes)


def test_the_certificate_says_whether_the_optimum_was_reached(result):
    assert certificate_words(result)[0].startswith("The weights are the best ones")
    solution = replace(result.solution, status="STALLED")
    assert "stopped before" in certificate_words(replace(result, solution=solution))[0]


class TestWhatIsShown:
    def test_fitted_functions_stand_in_for_data(self, rng):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(rng.standard_normal((120, 4))).rename(columns="g{}".format)
        frame["sex"] = pd.Categorical(rng.choice(["f", "m"], 120))
        frame["dose"] = rng.integers(0, 3, 120)
        y = frame["g0"] + 2 * (frame["sex"] == "f") + frame["dose"]
        keep = ["g0", "sex", "dose"]
        page = read(EmbeddingLasso(3, keep=keep).fit(frame, y).result_)
        assert len(pictures(page)) == 3
        assert all(title.startswith("added to y over") for title in pictures(page))
        words = page.sections["shapes"]
        assert "at f, least" in words
        classes = np.array(["low", "high"])[(y > y.mean()).astype(int)]
        page = read(EmbeddingLasso(3, keep=keep).fit(frame, classes).result_)
        assert all(title.startswith("added to the score") for title in pictures(page))

    def test_pairs_have_no_curve(self, rng):
        X = rng.standard_normal((150, 4))
        found = EmbeddingLasso(1, interactions="all").fit(X, X[:, 0] * X[:, 1]).result_
        assert "has no curve" in read(found).sections["shapes"]

    def test_groups(self):
        X, y, _ = make_data1(80, 12, random_state=0)
        groups = list("aaabbbcccddd")
        page = read(HSICLasso(4, penalty=GroupLasso(groups)).fit(X, y))
        assert set(page.column("group")) <= set("abcd")

    def test_what_the_table_knows_about_columns(self, result):
        features = tuple(
            replace(f, info={"chromosome": "X" if k else None, "position": k})
            for k, f in enumerate(result.features)
        )
        page = read(replace(result, features=features))
        assert page.column("position") == [0, 1, 2, 3, 4]
        assert page.column("chromosome") == ["", "X", "X", "X", "X"]

    def test_of_many_features_only_the_first_have_pictures(self, rng):
        X = rng.standard_normal((40, 130))
        selector = HSICLasso(keep=list(range(130)), n_features_to_select=130, n_jobs=1)
        y = X @ rng.standard_normal(130)
        page = read(selector.fit(X, y), X, y)
        assert len(page.rows) == 130
        assert len(pictures(page)) == 60
        assert "The last 70 features have no picture." in page.sections["shapes"]
        assert "The first 60 features are shown." in page.sections["redundancy"]

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewObservedWarning")
    def test_of_few_samples_and_far_values(self, rng):
        X = rng.standard_normal((60, 3))
        X[5, 0] = 1e6
        X[:, 2] = np.where(np.arange(60) < 57, np.nan, X[:, 2])
        y = np.abs(X[:, 1]) + (np.arange(60) == 7) * 1e4
        selector = fitted(X, y, 3, missing="ignore", keep=["x0", "x1", "x2"])
        page = read(selector, X, y)
        words = page.sections["shapes"]
        assert "lie beyond the axes" in words
        assert "Observed on 3 of 60 samples." in words

    def test_of_a_feature_that_is_hardly_observed(self, result):
        column = Column("x", np.array([1.0, np.nan, np.nan]))
        feature = replace(result.features[0], columns=("x",))
        seen = Seen({"x": column}, Numbers(np.ones((1, 3)), ("y",)))
        assert "Fewer than three" in draw_shape(feature, seen).note
        assert "first 120 columns" in draw_shape(feature, Seen({}, seen.target)).note
