"""Rankings of features one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import mutual_info_score

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    Objects,
    make_data1,
    make_data2,
)
from hsiclasso.baselines import HSICRanking, MIRanking
from tests import oracles

RANKINGS = [HSICRanking(measure="nocco"), MIRanking(bins="quantile"), MIRanking(measure="parzen")]


def words(estimator):
    return str(estimator)


@pytest.fixture(scope="module")
def data1():
    return make_data1(150, 30, random_state=1)


@pytest.mark.parametrize("estimator", RANKINGS, ids=words)
def test_scores_ranks_and_selection_agree(estimator, data1):
    X, y, _ = data1
    selector = clone(estimator).set_params(n_features_to_select=6).fit(X, y)
    by_score = np.argsort(-selector.scores_, kind="stable")
    assert selector.selected_.tolist() == by_score[:6].tolist()
    assert selector.ranking_[by_score].tolist() == list(range(1, 31))
    assert (selector.scores_ >= 0).all()
    assert selector.get_support(indices=True).tolist() == sorted(by_score[:6])
    assert selector.transform(X).shape == (150, 6)
    assert [f.score for f in selector.result_.features] == selector.scores_[by_score[:6]].tolist()
    assert {f.origin for f in selector.result_.features} == {"method"}
    assert selector.result_.target == "real"


@pytest.mark.parametrize("estimator", RANKINGS, ids=words)
@pytest.mark.parametrize("make", [make_data1, make_data2])
def test_finds_features_of_the_paper_s_models(estimator, make):
    X, y, causal = make(800, 30, random_state=0)
    selector = clone(estimator).set_params(n_features_to_select=len(causal)).fit(X, y)
    assert len(set(selector.selected_) & set(causal)) >= len(causal) - 1


def test_scores_are_the_relevance_of_the_lassos(data1):
    X, y, _ = data1
    for measure, lasso in (
        ("hsic", HSICLasso()), ("nhsic", HSICLasso(measure="nhsic")), ("nocco", NOCCOLasso()),
    ):  # fmt: skip
        lasso.set_params(target=Auto(transform=None))
        ranking = HSICRanking(measure=measure).fit(X, y)
        assert (ranking.scores_ == lasso.fit(X, y).relevance_).all()


def test_hsic_against_dense_matrices(data1):
    X, y, _ = data1
    T = oracles.centre(oracles.gaussian_gram(y, 0.5))
    expected = [np.sum(oracles.centre(oracles.gaussian_gram(x, 2.0)) * T) for x in X.T]
    found = HSICRanking(kernel=Gaussian(2.0), target=Auto(Gaussian(0.5))).fit(X, y).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_mutual_information_against_formulas(data1):
    X, y, _ = data1
    h = 150 ** (-1 / 6)
    grams = [oracles.gaussian_gram(x, h) for x in X.T]
    expected = [oracles.parzen_information(K, oracles.gaussian_gram(y, h)) for K in grams]
    parzen = MIRanking(measure="parzen").fit(X, y)
    np.testing.assert_allclose(parzen.scores_, expected, rtol=0, atol=1e-6)
    wide = MIRanking(measure="parzen", kernel=Gaussian(1.0), target=Auto(Gaussian(1.0))).fit(X, y)
    K, L = oracles.gaussian_gram(X[:, 0]), oracles.gaussian_gram(y)
    assert wide.scores_[0] == pytest.approx(oracles.parzen_information(K, L), abs=1e-6)

    levels, classes = np.digitize(X, [-1.5, -0.5, 0.2, 0.9]), np.digitize(y, [0.0, 2.0])
    binned = MIRanking(bins="levels").fit(levels, classes)
    expected = [mutual_info_score(x, classes) for x in levels.T]
    np.testing.assert_allclose(binned.scores_, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HSICRanking(), HSICRanking(measure="nhsic")),
        (HSICRanking(), HSICRanking(kernel=Gaussian(0.3))),
        (HSICRanking(), HSICRanking(target=Auto(Gaussian(0.3)))),
        (HSICRanking(), HSICRanking(target=Auto(transform="rank"))),
        (HSICRanking(), HSICRanking(target=Auto("laplace"))),
        (MIRanking(), MIRanking(threshold=0.5)),
        (MIRanking(), MIRanking(bins="quantile")),
        (MIRanking(bins="quantile"), MIRanking(bins="quantile", n_bins=3)),
        (MIRanking(), MIRanking(measure="parzen")),
        (MIRanking(measure="parzen"), MIRanking(measure="parzen", kernel=Gaussian(1.0))),
        (MIRanking(measure="parzen"), MIRanking(measure="parzen", target=Auto(Gaussian(1.0)))),
        (MIRanking(measure="parzen"), MIRanking(measure="parzen", target=Auto("laplace"))),
    ],
    ids=words,
)
def test_options_change_the_answer(one, other, data1):
    X, y, _ = data1
    first, second = (clone(estimator).fit(X, y).scores_ for estimator in (one, other))
    assert np.abs(first - second).max() > 1e-3 * first.max()


@pytest.mark.parametrize("estimator", RANKINGS, ids=words)
def test_redundant_copies_are_all_taken(estimator, data1):
    """A ranking has no regard for redundancy: that is what HSIC Lasso adds."""
    X, y, _ = data1
    best = int(clone(estimator).set_params(n_features_to_select=1).fit(X, y).selected_[0])
    copies = np.column_stack([X, X[:, best], -3 * X[:, best] + 1])
    selector = clone(estimator).set_params(n_features_to_select=3).fit(copies, y)
    assert set(selector.selected_) == {best, 30, 31}


@pytest.mark.parametrize("estimator", RANKINGS, ids=words)
def test_names_labels_and_constants(estimator, data1):
    X, y, _ = data1
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    frame["word"] = np.where(y > np.median(y), "high", "low")
    frame["flat"] = 1.0
    with pytest.warns(ConstantFeatureWarning, match="1 of 7 columns do not vary.*flat"):
        selector = clone(estimator).set_params(n_features_to_select=7).fit(frame, y)
    assert selector.result_.names[0] == "word"
    assert selector.result_.constant == ("flat",)
    assert len(selector.selected_) == 6
    assert set(selector.get_feature_names_out()) == {*"abcde", "word"}


@pytest.mark.parametrize("estimator", [HSICRanking(), MIRanking(measure="parzen")], ids=words)
def test_structured_targets(estimator, data1):
    X, y, causal = data1
    affinity = np.exp(-np.abs(y[:, None] - y))
    selector = clone(estimator).set_params(target="affinity", n_features_to_select=4)
    by_matrix = selector.fit(X, affinity)
    assert by_matrix.result_.target == "affinity"
    by_function = (
        clone(selector).set_params(target=Objects(lambda a, b: np.exp(-abs(a - b)))).fit(X, y)
    )
    np.testing.assert_allclose(by_matrix.scores_, by_function.scores_, rtol=1e-4)
    links = affinity > 0.6
    graph = clone(selector).set_params(target="graph").fit(X, links.astype(float))
    assert len(set(graph.selected_) & set(causal)) >= 3


def test_classes_labels_and_survival(data1):
    X, y, _ = data1
    for estimator in RANKINGS:
        by_class = clone(estimator).fit(X, np.where(y > 2, "high", "low"))
        assert by_class.result_.target == "classes"
        several = clone(estimator).fit(X, np.column_stack([y > 2, X[:, 5] > 0]).astype(int))
        assert several.result_.target == "labels"
        assert 5 in several.selected_
    survival = HSICRanking(target="survival").fit(X, (np.exp(y - y.max()), X[:, 9] < 1))
    assert survival.result_.target == "survival"
    for estimator in (MIRanking(target="survival"), MIRanking(target="survival", measure="parzen")):
        with pytest.raises(InvalidInputError, match="'survival', but MI ranking serves only"):
            estimator.fit(X, (np.exp(y - y.max()), X[:, 9] < 1))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (HSICRanking(measure="mi"), "measure='mi' is unknown: choose 'hsic', 'nhsic' or 'nocco'"),
        (HSICRanking(kernel=Gaussian(-1.0)), "width=-1.0, but a gaussian kernel needs a positive"),
        (HSICRanking(target=Auto("rbf")), "kernel of the target='rbf' is unknown"),
        (MIRanking(measure="knn"), "measure='knn' is unknown: choose 'mi' or 'parzen'"),
        (MIRanking(kernel=Gaussian(1.0)), r"kernel=Gaussian\(\) has no meaning with measure='mi'"),
        (MIRanking(bins="sturges"), "bins='sturges' is unknown"),
        (MIRanking(measure="parzen", n_bins=7), "n_bins=7 has no meaning with measure='parzen'"),
        (MIRanking(0), "n_features_to_select=0 must be a whole number >= 1"),
        (MIRanking(target=Auto("laplace")), "the target's kernel='laplace' has no meaning"),
    ],
)  # fmt: skip
def test_errors_come_before_any_work(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(None, None)
