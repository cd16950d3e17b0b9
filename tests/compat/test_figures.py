"""Figures are written, returned, and unknown to pyplot."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib import pyplot
from matplotlib.figure import Figure

from hsiclasso.compat import HSICLasso

FIGURES = {"plot_path": "path", "plot_dendrogram": "dendrogram", "plot_heatmap": "heatmap"}


def texts(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize("name", FIGURES)
def test_files(name, fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted.linkage()
    figure = getattr(fitted, name)()
    assert isinstance(figure, Figure)
    assert (tmp_path / f"{FIGURES[name]}.png").read_bytes()[1:4] == b"PNG"
    getattr(fitted, name)(str(tmp_path / "other.pdf"))
    assert (tmp_path / "other.pdf").read_bytes()[:4] == b"%PDF"
    getattr(fitted, name)(filepath="plain")
    assert (tmp_path / "plain.png").exists()
    with pytest.raises(ValueError, match="abc"):
        getattr(fitted, name)("figure.abc")
    assert pyplot.get_fignums() == []


def test_plot_is_the_path(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (axes,) = fitted.plot().axes
    assert {text.get_text() for text in axes.texts} == set(fitted.get_features())


def test_leaves_are_named(fitted, tmp_path):
    fitted.linkage()
    (axes,) = fitted.plot_dendrogram(str(tmp_path / "tree.png")).axes
    assert sorted(texts(axes)) == sorted(fitted.hclust_featname)


def test_heatmap_shows_the_features_in_the_order_of_the_tree(fitted, table, tmp_path):
    fitted.linkage()
    tree, heat, *_ = fitted.plot_heatmap(str(tmp_path / "heat.png")).axes
    (image,) = heat.get_images()
    names, X = texts(heat), table[0]
    assert tree.get_ylim() == heat.get_ylim() == (0, 10 * len(names))
    for name, shown in zip(names, image.get_array(), strict=True):
        x = X[:, fitted.featname.index(name)]
        np.testing.assert_allclose(np.sort(shown), np.sort((x - x.mean()) / x.std()))


def test_heatmap_of_selected_features_only(table, tmp_path):
    model = HSICLasso()
    model.input(*table)
    model.regression(3, B=0, max_neighbors=0)
    model.linkage()
    assert model.hclust_featnameindex == model.get_index()
    _, heat, *_ = model.plot_heatmap(str(tmp_path / "heat.svg")).axes
    assert len(texts(heat)) == 3
