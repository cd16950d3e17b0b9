"""What a selection returns: plain data in groups of fields, and its short views."""

from __future__ import annotations

import dataclasses
import importlib
import json

import numpy as np
import pandas as pd
import pytest

from hsiclasso import (
    AlphaRatio,
    GroupLasso,
    HSICLasso,
    Lasso,
    NOCCOLasso,
    SelectionResult,
    make_data1,
)
from hsiclasso.cli.tables import feature_table
from hsiclasso.errors import MissingExtraError
from hsiclasso.selectors.result import RECORD_FIELDS, Cluster, Member, SelectedFeature
from tests.selectors.tables import N

OPTIONS = {
    "plain": {},
    "neighbours": {"n_neighbors": 3},
    "kept": {"keep": ["x6"], "measure": "nocco"},
    "joint": {"joint": {"v": ["x0", "x3"]}, "covariates": ["x5"]},
    "groups": {"penalty": GroupLasso(list("aabbccd"), l1_ratio=0.4)},
    "signed": {"penalty": Lasso(positive=False)},
}


@pytest.fixture(params=OPTIONS, scope="module")
def fitted(request, X, y):
    return HSICLasso(4, **OPTIONS[request.param]).fit(X, y)


class TestEveryResult:
    def test_fields_agree_with_the_attributes(self, fitted):
        result = fitted.result_
        assert isinstance(result, SelectionResult)
        columns = {int(fitted.selected_[0])} | {f.index for f in result.features}
        assert columns <= set(fitted.selected_.tolist())
        for feature in result.features:
            assert feature.weight == fitted.coef_[feature.index]
            assert feature.relevance == fitted.relevance_[feature.index]
            assert feature.n_observed == N
        assert result.data.n_samples == N
        assert result.data.n_columns == fitted.n_features_in_ == 7
        assert result.solution.alpha == fitted.path_.alpha
        assert result.solution.n_requested == 4
        assert result.path is fitted.path_
        assert result.status == result.solution.status == fitted.path_.status.name
        assert result.message == result.solution.message
        assert result.certificate == result.solution.certificate
        assert result.method.solver in ("homotopy", "cd")

    def test_shares_are_parts_of_the_sum_of_weights(self, fitted):
        shares = [feature.share for feature in fitted.result_.features]
        assert sum(shares) == pytest.approx(1)
        weights = np.abs([feature.weight for feature in fitted.result_.features])
        np.testing.assert_allclose(shares, weights / weights.sum())
        assert shares == sorted(shares, reverse=True)

    def test_json_and_back(self, fitted):
        result = fitted.result_
        parsed = json.loads(result.to_json())
        assert set(parsed) == {
            "features", "groups", "clusters", "method", "data", "solution"
        }  # fmt: skip
        assert parsed == json.loads(result.to_json(indent=None))
        assert [f["name"] for f in parsed["features"]] == list(result.names)
        again = [
            SelectedFeature(
                **f
                | {"neighbours": (), "columns": tuple(f["columns"]), "members": tuple(f["members"])}
            )
            for f in parsed["features"]
        ]
        assert again == [dataclasses.replace(f, neighbours=()) for f in result.features]
        for name in ("method", "data", "solution"):
            assert set(parsed[name]) == {f.name for f in dataclasses.fields(getattr(result, name))}
        assert parsed["solution"]["certificate"]["n_candidates"] >= 4
        near = [other for f in parsed["features"] for other in f["neighbours"]]
        assert all(other.keys() == {"name", "index", "similarity"} for other in near)

    def test_frames(self, fitted):
        result = fitted.result_
        frame = result.to_frame()
        assert frame.columns.tolist() == RECORD_FIELDS
        assert frame["name"].tolist() == list(result.names)
        assert frame["rank"].tolist() == [1, 2, 3, 4]
        assert frame["columns"].tolist() == ["; ".join(f.columns) for f in result.features]
        groups = result.groups_to_frame()
        assert groups.columns.tolist() == ["label", "norm", "size", "features"]
        assert groups["label"].tolist() == [group.label for group in result.groups]
        assert groups["features"].tolist() == ["; ".join(g.features) for g in result.groups]
        assert frame["group"].isin(groups["label"]).all() or not result.groups

    def test_short_views(self, fitted):
        result = fitted.result_
        text, html = repr(result), result._repr_html_()
        head, *rows, last = text.splitlines()
        assert head.startswith(result.method.name)
        assert "4 features selected from 7 columns on 48 samples, target: real" in head
        assert [row.split()[1] for row in rows] == list(result.names)
        assert last.startswith("Global optimum at penalty")
        assert html.count("<tr>") == 5
        assert all(f"<td style='text-align:left'>{name}</td>" in html for name in result.names)


def test_neighbours_in_a_record(X, y):
    (row, *_) = HSICLasso(3, n_neighbors=2).fit(X, y).result_.to_rows()
    first, second = row["neighbours"].split("; ")
    assert first.startswith("x")
    assert second.endswith(")")


class TestClusters:
    @pytest.fixture
    def result(self, X, y):
        result = HSICLasso(3).fit(X, y).result_
        members = (Member("<a>", 8, 0.9512), Member("b", 9, 0.9))
        first, *others = result.features
        clusters = [Cluster(first.name, first.index, members)]
        clusters += [Cluster(feature.name, feature.index) for feature in others]
        return dataclasses.replace(result, clusters=tuple(clusters))

    def test_records(self, result):
        rows = result.to_rows()
        assert [row["cluster"] for row in rows] == ["<a> (0.95); b (0.90)", "", ""]
        assert result.to_frame()["cluster"].tolist() == [row["cluster"] for row in rows]

    def test_json(self, result):
        first, *others = json.loads(result.to_json())["clusters"]
        assert first["representative"] == result.names[0]
        assert first["index"] == result.features[0].index
        assert first["members"][0] == {"name": "<a>", "index": 8, "similarity": 0.9512}
        assert all(other["members"] == [] for other in others)

    def test_views(self, result):
        html = result._repr_html_()
        assert "<td title='&lt;a&gt; (0.95); b (0.90)'>2</td>" in html
        assert html.count("<td title=''></td>") == 2
        console = pytest.importorskip("rich.console").Console(width=160)
        with console.capture() as shown:
            console.print(feature_table(result))
        head, _, first, *_ = (line for line in shown.get().splitlines() if line.strip())
        assert "left out" in head
        assert first.split()[-1] == "2"


def test_what_inference_finds_is_in_records_if_it_is_known(X, y):
    result = HSICLasso(2).fit(X, y).result_
    assert result.fields == RECORD_FIELDS
    first, second = result.features
    known = dataclasses.replace(first, p_value=0.01, frequency=0.5)
    result = dataclasses.replace(result, features=(known, second))
    assert result.fields == [*RECORD_FIELDS, "p_value", "frequency"]
    rows = result.to_rows()
    assert [row["p_value"] for row in rows] == [0.01, None]
    assert "q_value" not in rows[0]
    assert result.to_frame()["frequency"].tolist()[0] == 0.5
    assert json.loads(result.to_json())["features"][0]["q_value"] is None


def test_results_are_not_changed(X, y):
    result = HSICLasso(2).fit(X, y).result_
    for part, name in [(result, "features"), (result.solution, "alpha"), (result.data, "constant")]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, name, 3)
    assert result == HSICLasso(2).fit(X, y).result_


def test_names_are_escaped_and_long_lists_are_cut(rng):
    X = rng.standard_normal((60, 30))
    frame = pd.DataFrame(X).rename(columns=lambda j: f"<b>{j}</b>")
    result = HSICLasso(25).fit(frame, X[:, :25].sum(axis=1)).result_
    assert "&lt;b&gt;" in result._repr_html_()
    assert "<b>" not in result._repr_html_()
    assert "... and 5 more" in repr(result)
    assert result._repr_html_().count("<tr>") == 26


def test_nothing_selected(X, y):
    result = NOCCOLasso(alpha=AlphaRatio(1.0)).fit(X, y).result_
    assert result.features == result.names == ()
    assert result.to_frame().shape == (0, len(RECORD_FIELDS))
    assert "0 features selected from 7 columns" in repr(result)
    assert json.loads(result.to_json())["features"] == []
    assert "<tbody></tbody>" in result._repr_html_()


def test_one_feature_is_not_a_plural(X, y):
    result = HSICLasso(1).fit(X, y).result_
    assert "1 feature selected from" in repr(result)
    assert result.message.startswith("1 feature selected at penalty")


def test_frames_need_pandas(X, y, monkeypatch):
    result = HSICLasso(2).fit(X, y).result_

    def absent(name, *args):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    for call in (result.to_frame, result.groups_to_frame):
        with pytest.raises(MissingExtraError, match=r"pip install 'hsiclasso\[pandas\]'"):
            call()


def test_plot(X, y):
    plots = pytest.importorskip("hsiclasso.plots", exc_type=ImportError)
    if not hasattr(plots, "draw_result"):
        pytest.skip("figures of a result are not there")
    figure = HSICLasso(3).fit(X, y).result_.plot()
    assert figure.axes


class TestSimilarity:
    def test_is_that_of_the_matrices(self):
        X, y, _ = make_data1(60, 12, random_state=0)
        result = HSICLasso(4).fit(X, y).result_
        z = (X - X.mean(axis=0)) / X.std(axis=0)
        grams = np.exp(-0.5 * np.square(z[:, None] - z[None])).transpose(2, 0, 1)
        centred = grams - grams.mean(1, keepdims=True) - grams.mean(2, keepdims=True)
        centred = (centred + grams.mean((1, 2), keepdims=True)).reshape(12, -1)
        unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        places = [feature.index for feature in result.features]
        np.testing.assert_allclose(result.similarity, (unit @ unit.T)[np.ix_(places, places)], 1e-5)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_of_many_is_not_computed(self):
        X, y, _ = make_data1(40, 230, random_state=0)
        result = HSICLasso(201, max_redundancy=1.0).fit(X, y).result_
        assert result.similarity is None

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_of_a_feature_that_does_not_vary(self):
        X, y, _ = make_data1(60, 6, random_state=0)
        X[:, 2] = 1.0
        result = HSICLasso(3, keep=["x2"]).fit(X, y).result_
        place = result.names.index("x2")
        assert result.similarity[place].sum() == 1.0
