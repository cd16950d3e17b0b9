"""Reports: every selected feature, nothing from elsewhere, small, for every kind of target."""

from __future__ import annotations

import base64
import hashlib
import re

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Lasso,
    Objects,
    make_copies,
    make_data1,
    with_frequencies,
)
from hsiclasso.report import Asked, make_report, write_report
from tests.report.helpers import LINKS, Page, fitted, pictures, read

KEEP = ["lab1", "dose", "sex", "site"]


def select(patients, y, **options):
    frame, _ = patients
    options = {"missing": "ignore", "keep": KEEP} | options
    return HSICLasso(5, n_jobs=1, **options).fit(frame, y)


class TestPage:
    def test_is_well_formed_and_asks_nothing_of_the_network(self, patients):
        frame, risk = patients
        text = make_report(select(patients, risk), frame, risk)
        page = Page(text)
        assert not [
            (tag, name) for tag, given in page.elements for name in given if name in LINKS
            and tag != "meta"
        ]  # fmt: skip
        assert not [g for _, g in page.elements if any(name.startswith("on") for name in g)]
        assert "http" not in re.sub(r"http-equiv", "", text)
        assert not re.search(r"@import|url\(|@font-face", text)
        assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object"} == set()

    def test_only_its_own_script_may_run(self, patients):
        text = make_report(select(patients, patients[1]))
        (policy,) = [
            given["content"] for given in Page(text).tags("meta")
            if given.get("http-equiv") == "Content-Security-Policy"
        ]  # fmt: skip
        script = re.findall(r"<script>(.*?)</script>", text, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
        assert len(script) == 1
        assert f"script-src 'sha256-{digest}'" in policy
        assert policy.startswith("default-src 'none'")
        assert "unsafe-eval" not in policy
        assert len(re.findall(r"<script", text)) == 2  # the other one holds data

    def test_has_every_selected_feature_and_every_section(self, patients):
        frame, risk = patients
        selector = select(patients, risk, n_neighbors=2)
        page = read(selector, frame, risk)
        names = selector.result_.names
        assert [row[1] for row in page.rows] == list(names) == page.column("feature")
        assert len(page.tags("figure")) == len(names)
        assert list(page.sections) == [
            "found", "warnings", "table", "shapes", "path", "redundancy", "certificate", "about",
            "asked",
        ] or "warnings" not in page.sections  # fmt: skip
        assert "risk" in page.sections["found"]
        assert "HSICLasso(" in page.sections["asked"]

    def test_pictures_have_names_and_marks(self, patients):
        frame, risk = patients
        page = read(select(patients, risk), frame, risk)
        for given in page.tags("svg"):
            assert given["role"] == "img"
            assert len(given["aria-label"]) > 10
        places = {given["data-f"] for _, given in page.elements if "data-f" in given}
        assert places == {str(k) for k in range(5)}
        assert {given["aria-sort"] for given in page.tags("th") if "aria-sort" in given} == {
            "ascending", "none"
        }  # fmt: skip
        pressed = [given for given in page.tags("button") if "aria-pressed" in given]
        assert len(pressed) == 5

    def test_numbers_are_those_of_the_result(self, patients):
        selector = select(patients, patients[1])
        page = read(selector)
        assert page.column("weight") == [f.weight for f in selector.result_.features]
        assert page.column("relevance") == [f.relevance for f in selector.result_.features]
        assert page.column("observed")[page.column("feature").index("lab1")] == 128

    @pytest.mark.parametrize("d", [200, 5_000])
    def test_fifty_features_make_a_small_page_whatever_the_table(self, d):
        X, y, _ = make_data1(500, d, random_state=0)
        selector = HSICLasso(50, n_neighbors=5, n_jobs=1).fit(X, y)
        text = make_report(selector, X, y)
        assert len(text.encode()) < 500_000
        assert len(Page(text).rows) == 50

    @pytest.mark.parametrize("kind", ["survival", "classes"])
    def test_many_samples_make_a_small_page(self, kind):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((6000, 50))
        time = np.exp(X[:, 0] + rng.standard_normal(6000))
        events = np.column_stack([time, rng.random(6000) < 0.8])
        letters = np.array(list("abcdefghij"))[(time * 3 % 10).astype(int)]
        y = events if kind == "survival" else letters
        selector = fitted(X, y, 50, target=kind, keep=list(range(50)))
        assert len(make_report(selector, X, y).encode()) < 500_000

    def test_is_the_same_each_time(self, patients):
        frame, risk = patients
        selector = select(patients, risk)
        assert make_report(selector, frame, risk) == make_report(selector, frame, risk)


class TestKindsOfTarget:
    @pytest.mark.parametrize("many", [False, True])
    def test_classes(self, patients, many):
        frame, risk = patients
        y = np.digitize(risk, np.linspace(0, 3, 12) if many else [1.0, 2.0])
        words = np.array([f"class {k}" for k in range(14)])[y]
        page = read(select(patients, words), frame, words)
        shown = dict(zip(page.column("feature"), pictures(page), strict=True))
        assert shown["lab1"].startswith("lab1 by class")
        assert shown["sex"].startswith("Shares of y by sex")
        assert "others" in page.text or not many

    def test_numbers(self, patients):
        frame, risk = patients
        page = read(select(patients, risk), frame, risk)
        shown = dict(zip(page.column("feature"), pictures(page), strict=True))
        assert shown["lab1"].startswith("risk over lab1. On average")
        assert shown["dose"].startswith("risk by dose. Median of risk")
        assert "others" in page.sections["shapes"]  # of 11 sites

    def test_survival(self, patients):
        frame, risk = patients
        rng = np.random.default_rng(0)
        y = np.column_stack([rng.exponential(np.exp(-risk)), rng.random(len(risk)) < 0.7])
        selector = select(patients, y, target="survival")
        page = read(selector, frame, y, asked=Asked(target=("months", "died")))
        assert all(title.startswith("Survival by") for title in pictures(page))
        legend = page.sections["shapes"]
        assert "low (up to" in legend
        assert "f (n=" in legend
        assert "events, median time" in page.sections["about"]

    def test_several_outputs_of_classes(self, patients):
        frame, risk = patients
        words = np.where(np.column_stack([risk > 1, frame["lab2"] > 0]), "yes", "no")
        page = read(select(patients, words), frame, words)
        assert "y0 (first of 2 outputs)" in page.sections["about"]

    def test_columns_and_classes_of_truth_values_and_numbers(self, rng):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"smokes": rng.random(90) < 0.5, "age": rng.standard_normal(90)})
        y = frame["smokes"] + 2.0 * (frame["age"] > 0)
        page = read(fitted(frame, y, 2, keep=["smokes", "age"]), frame, y)
        shown = dict(zip(page.column("feature"), pictures(page), strict=True))
        assert "for false" in shown["smokes"]
        assert shown["age"].startswith("age by class")
        assert "0 (" in page.sections["about"]
        assert "0.0 (" not in page.sections["about"]

    def test_labels_and_several_outputs(self, patients):
        frame, risk = patients
        labels = np.column_stack([risk > 1, frame["lab2"] > 0]).astype(int)
        page = read(select(patients, labels), frame, labels)
        assert "by label" in " ".join(pictures(page))
        both = np.column_stack([risk, frame["lab2"]])
        page = read(select(patients, both), frame, both)
        assert any(title.startswith("y0 over lab1") for title in pictures(page))

    @pytest.mark.parametrize("kind", ["ordinal", "counts"])
    def test_levels_and_counts(self, patients, kind):
        frame, risk = patients
        y = np.digitize(risk, [1.0, 2.0]) + (0 if kind == "counts" else 1)
        page = read(select(patients, y, target=kind), frame, y)
        expected = "lab1 by class" if kind == "ordinal" else "y over lab1"
        assert any(title.startswith(expected) for title in pictures(page))

    def test_ordered_categories_keep_their_names(self, patients):
        pd = pytest.importorskip("pandas")
        frame, risk = patients
        grades = pd.Categorical.from_codes(
            np.digitize(risk, [1.0, 2.0]), ["mild", "fair", "bad"], ordered=True
        )
        page = read(select(patients, pd.Series(grades)), frame, pd.Series(grades))
        assert re.search(r"mild \(\d+\), fair \(\d+\), bad \(\d+\)", page.sections["about"])

    @pytest.mark.parametrize("kind", ["affinity", "graph"])
    def test_between_samples_there_is_no_picture(self, patients, kind):
        frame, risk = patients
        apart = np.abs(risk.to_numpy()[:, None] - risk.to_numpy())
        y = np.exp(-(apart**2)) if kind == "affinity" else (apart < 0.2) - np.eye(len(risk))
        selector = select(patients, sparse.csr_array(y), target=kind)
        page = read(selector, frame, sparse.csr_array(y))
        assert not pictures(page)
        assert "has no picture" in page.sections["shapes"]

    def test_any_objects(self, patients):
        frame, risk = patients
        y = [f"{value:.1f}" for value in risk]
        target = Objects(lambda a, b: float(a == b))
        page = read(select(patients, y, target=target), frame, y)
        assert len(page.rows) == 5
        assert not pictures(page)

    def test_missing_targets_and_weights_leave_samples_out(self, patients):
        frame, risk = patients
        y = np.where(risk.to_numpy() > 2.5, np.nan, risk)
        from hsiclasso import Real

        selector = select(patients, y, target=Real(missing="drop"))
        page = read(selector, frame, y)
        dropped = int(np.isnan(y).sum())
        assert f"{dropped} samples" in page.sections["warnings"]
        assert len(pictures(page)) == 5


class TestKindsOfSelection:
    def test_of_the_result_alone(self, tmp_path, patients):
        selector = select(patients, patients[1])
        selector.result_.to_html(tmp_path / "report.html")
        page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
        assert "shapes" not in page.sections
        assert len(page.rows) == 5

    def test_pairs(self, rng):
        X = rng.standard_normal((200, 6))
        y = X[:, 1] * X[:, 3]
        page = read(HSICLasso(2, interactions="all").fit(X, y), X, y)
        assert page.rows[0][1] == "x1 & x3"
        assert pictures(page)[0].startswith("y over x1 and x3. Mean of y")
        assert "pairs were scanned" in page.sections["certificate"]

    @pytest.mark.parametrize("kind", ["classes", "survival", "labels"])
    def test_pairs_for_other_targets(self, rng, kind):
        X = rng.standard_normal((200, 4))
        X[:, 2] = X[:, 2] > 0
        sign = X[:, 1] * (2 * X[:, 2] - 1)
        y = {
            "classes": np.where(sign > 0, "yes", "no"),
            "survival": np.column_stack([np.exp(sign), np.arange(200) % 4 > 0]),
            "labels": np.column_stack([sign > 0, X[:, 0] > 0]).astype(int),
        }[kind]
        selector = HSICLasso(2, interactions=[("x1", "x2")], target=kind).fit(X, y)
        page = read(selector, X, y)
        place = selector.result_.names.index("x1 & x2")
        assert "x1" in pictures(page)[place]
        assert "x2" in pictures(page)[place]

    def test_joint_features(self, rng):
        X = rng.standard_normal((200, 6))
        y = X[:, 0] + X[:, 1] ** 2 + X[:, 2]
        joint = {"place": ["x0", "x1"], "block": ["x2", "x3", "x4"]}
        page = read(HSICLasso(2, joint=joint).fit(X, y), X, y)
        assert {row[1] for row in page.rows} == {"place", "block"}
        assert len(pictures(page)) == 1
        assert "consists of 3 columns" in page.sections["shapes"]

    def test_filled_features_say_so(self):
        X = np.random.default_rng(0).standard_normal((80, 5))
        y = X[:, 0]
        with pytest.warns(UserWarning, match="weight 0"):
            selector = fitted(X, y, 4)
        assert any(f.origin == "filled" for f in selector.result_.features)
        page = read(selector, X, y)
        assert any(why.startswith("filled in") for why in page.column("why"))
        assert "make up the number" in page.sections["warnings"]

    def test_error_control(self):
        X, y, _ = make_copies(300, 60, n_copies=2, random_state=0)
        selector = ControlledSelection().fit(X, y)
        page = read(selector, X, y)
        assert page.column("p") == [f.p_value for f in selector.result_.features]
        assert page.column("q") == [f.q_value for f in selector.result_.features]
        assert "at most 10% of what such tests find" in page.sections["found"]
        assert "candidates were tested" in page.sections["sure"]
        assert any(page.column("says the same"))
        assert "Seed" in page.sections["asked"]

    def test_nothing_found(self, rng):
        X, y = rng.standard_normal((100, 10)), rng.standard_normal(100)
        page = read(ControlledSelection().fit(X, y), X, y)
        assert "Nothing was selected" in page.sections["found"]
        assert "table" not in page.sections

    def test_stability(self, patients):
        selector = select(patients, patients[1])
        frequencies = np.linspace(0, 1, 9)
        page = read(with_frequencies(selector.result_, frequencies))
        assert "100%" in page.sections["sure"] or "%" in page.sections["sure"]
        assert all(0 <= share <= 1 for share in page.column("frequency"))

    def test_of_the_number_that_cross_validation_chose(self):
        X, y, _ = make_data1(100, 20, random_state=0)
        search = HSICLassoCV(sizes=[2, 3], cv=3).fit(X, y)
        assert len(read(search, X, y).rows) == search.n_features_

    def test_embedding_and_signed_weights(self):
        X, y, _ = make_data1(100, 20, random_state=0)
        page = read(EmbeddingLasso(4).fit(X, y), X, y)
        assert len(pictures(page)) == 4
        page = read(fitted(X, y, 4, penalty=Lasso(positive=False)), X, y)
        assert len(page.rows) == 4

    def test_useless_columns_are_named(self, rng):
        X = rng.standard_normal((80, 5))
        X[:, 2] = 1.0
        with pytest.warns(UserWarning, match="do not vary"):
            selector = fitted(X, X[:, 0], 1)
        assert "1 feature with only one value left out: x2" in read(selector).sections["warnings"]


class TestNames:
    HOSTILE = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</script><script>alert(2)</script>",
        "' onmouseover='alert(3)",
        "=cmd|' /C calc'!A0",
        "line\u2028break\u2029\x00\x07\ud800",
        "<!--<script>",
        "a & b",
    )

    def hostile(self, rng):
        from hsiclasso.data.sources import ArraySource

        X = rng.standard_normal((120, len(self.HOSTILE)))
        y = np.where(np.abs(X).sum(axis=1) > 6, self.HOSTILE[0], self.HOSTILE[1])
        source = ArraySource(X, list(self.HOSTILE))
        return source, y, fitted(source, y, 8, max_redundancy=1.0, n_neighbors=2, fill=True)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_are_text_and_nothing_else(self, rng):
        source, y, selector = self.hostile(rng)
        asked = Asked(self.HOSTILE[0], (self.HOSTILE[1],), self.HOSTILE[2])
        text = make_report(selector, source, y, asked=asked)
        page = Page(text)
        assert len(re.findall("<script", text)) == 2
        assert len(re.findall("</script", text)) == 2
        assert "<img" not in text
        assert "<!--" not in text
        assert not [g for _, g in page.elements if any(name.startswith("on") for name in g)]
        assert set(page.column("feature")) == set(selector.result_.names)
        shown = {row[1] for row in page.rows}
        assert set(self.HOSTILE[:2]) <= shown
        text.encode("utf-8")  # no lone surrogate is left
        assert not re.search("[\x00-\x08\u2028\u2029]", text.split('id="data">')[1])


class TestRefusals:
    def test_are_said_before_the_work(self, tmp_path, patients):
        frame, risk = patients
        selector = select(patients, risk)
        with pytest.raises(InvalidInputError, match=r"suffix '.pdf'.*use .html"):
            write_report(selector, tmp_path / "report.pdf")
        with pytest.raises(InvalidInputError, match="does not exist: create it first"):
            write_report(selector, tmp_path / "no" / "report.html")
        with pytest.raises(InvalidInputError, match=r"X has 150 rows and 8 columns, but .* 9"):
            make_report(selector, frame.iloc[:, :8], risk)
        with pytest.raises(InvalidInputError, match=r"selected=.* has no selection"):
            make_report(HSICLasso())
        with pytest.raises(InvalidInputError, match=r"selected=3"):
            make_report(3)

    def test_a_report_is_written_whole(self, tmp_path, patients):
        file = tmp_path / "report.html"
        write_report(select(patients, patients[1]), file)
        assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
        assert file.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_classes_and_cross_validation_are_told(rng):
    from hsiclasso import HSICLassoCV

    y = rng.choice(["B <b>cell</b>", "T cell", "monocyte"], 90)
    X = rng.standard_normal((90, 6))
    X[:, 2] += 3 * (y == "T cell")
    search = HSICLassoCV(sizes=[1, 2], cv=3).fit(X, y)
    page = read(search, X, y)
    feature = search.selector_.result_.features[0]
    told = page.column("speaks for")[0]
    assert told.startswith(f"T cell {feature.classes['T cell'] / feature.relevance:.0%}, ")
    assert told.count("%") == 3
    assert search.scores_.message in page.sections["found"]
    two = fitted(X, y == "T cell").result_
    assert "speaks for" not in read(two, X, y == "T cell").data["titles"]
