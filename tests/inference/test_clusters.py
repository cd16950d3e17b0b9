"""Clusters of features that carry the same information."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from hsiclasso.data import as_source
from hsiclasso.inference import clusters as module
from hsiclasso.inference.clusters import cluster, factors_of, similar_groups
from tests import oracles


def draw(n=80, groups=6, copies=3, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n, groups))
    parts = [base + rng.uniform(0.1, 0.9) * rng.standard_normal((n, groups)) for _ in range(copies)]
    return np.concatenate([base, *parts], axis=1)


def dense_similarity(X):
    centred = [oracles.centre(oracles.gaussian_gram(x)).ravel() for x in X.T]
    unit = np.array([k / np.linalg.norm(k) for k in centred])
    return unit @ unit.T


@pytest.mark.parametrize("least", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("at_once", [5, 256])
def test_clusters_are_those_of_average_linkage_on_dense_matrices(monkeypatch, least, at_once):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    X = draw()
    similarity = dense_similarity(X)
    distance = squareform(np.maximum(1 - similarity, 0), checks=False)
    labels = fcluster(linkage(distance, "average"), 1 - least, "distance")
    expected = {tuple(np.flatnonzero(labels == label)) for label in np.unique(labels)}
    found = cluster(factors_of(as_source(X), np.arange(X.shape[1])), least)
    assert {tuple(members) for members, _ in found} == expected
    assert any(len(members) > 1 for members, _ in found)
    for members, values in found:
        np.testing.assert_allclose(values, similarity[np.ix_(members, members)], atol=5e-3)


def test_groups_part_only_what_is_not_similar():
    X = draw(seed=3)
    similarity = dense_similarity(X)
    groups = similar_groups(factors_of(as_source(X), np.arange(X.shape[1])), 0.4)
    which = np.empty(X.shape[1], dtype=int)
    for number, group in enumerate(groups):
        which[group] = number
    assert np.unique(which).size > 1
    assert (similarity[which[:, None] != which] < 0.4).all()


def test_missing_values_labels_and_constant_columns():
    X = draw(groups=2, copies=1)
    X[:, 2] = X[:, 0] + 0.05 * X[:, 1]
    X[::5, 2] = np.nan
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    found = cluster(factors_of(as_source(X), np.arange(6)), 0.5)
    members = {tuple(group.tolist()) for group, _ in found}
    assert (4,) in members
    assert any({0, 2, 5} <= set(group) for group in members)


def test_nothing_to_cluster():
    source = as_source(np.ones((9, 2)))
    assert cluster(factors_of(source, np.zeros(0, dtype=int)), 0.5) == []
