"""Features along the genome, and pixels where they are."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, SelectByTest, hsic_scan, make_data1
from hsiclasso.plots import plot_manhattan, plot_pixels
from tests.genotypes import draw_calls, write_bed
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """Return the path of genotypes on three chromosomes, and a selector that was fitted to them."""
    rng = np.random.default_rng(0)
    calls = draw_calls(rng, 80, 60, missing=0.05)
    status = np.where(np.asarray(calls)[:, 7] == 2, 2.0, 1.0)
    status[np.asarray(calls)[:, 45] == 2] += 1.5
    file = write_bed(
        tmp_path_factory.mktemp("plink") / "cohort.bed", calls,
        chromosome=np.repeat(["10", "2", "X"], 20), bp_position=np.tile(np.arange(20) * 500 + 9, 3),
        sid=[f"rs{j}" for j in range(60)], pheno=status,
    )  # fmt: skip
    return file, HSICLasso(4, missing="ignore").fit(file, "phenotype")


def dots(ax):
    """Return the places of the selected features."""
    return ax.collections[-1].get_offsets()


def test_variants_of_a_file_stand_chromosome_after_chromosome(cohort):
    file, selector = cohort
    ax = plot_manhattan(selector, file)
    assert texts(ax.get_xticklabels()) == ["2", "10", "X"]
    *clouds, chosen = ax.collections
    drawn = np.concatenate([cloud.get_offsets() for cloud in clouds])
    assert len(drawn) == 60
    assert sorted(drawn[:, 1]) == pytest.approx(sorted(selector.relevance_))
    features = selector.result_.features
    assert [y for _, y in chosen.get_offsets()] == [f.relevance for f in features]
    # 2 before 10: the first 20 variants, of chromosome 10, stand in the middle
    along = {tuple(row): k for k, row in enumerate(drawn.tolist())}
    assert len(along) == 60
    left, right = ax.get_xlim()
    for feature, (x, _) in zip(features, chosen.get_offsets(), strict=True):
        third = ["2", "10", "X"].index(feature.info["chromosome"])
        assert third == int(3 * (x - left) / (right - left))
    assert {text.get_text() for text in ax.texts} == {f.name for f in features}


def test_the_result_alone_knows_the_selected_variants(cohort):
    _, selector = cohort
    ax = plot_manhattan(selector.result_)
    assert len(ax.collections) == 1
    assert len(dots(ax)) == 4
    first = selector.result_.features[0]
    ax = plot_manhattan(selector.result_, labels={first.name: "BRCA2"}, max_labels=1)
    assert texts(ax.texts) == ["BRCA2"]
    assert plot_manhattan(selector.result_, ax=(own := Figure().add_subplot())) is own


def test_places_of_genes_and_p_values():
    X, y, _ = make_data1(100, 30, random_state=0)
    places = [f"chr{c}" for c in np.repeat([1, 2, 3], 10)], np.tile(np.arange(10) * 100, 3)
    selector = HSICLasso("auto").fit(X, y)
    ax = plot_manhattan(selector, places)
    assert ax.get_ylabel() == "-log10 of the p-value"
    expected = -np.log10(selector.p_values_[[f.index for f in selector.result_.features]])
    np.testing.assert_allclose(dots(ax)[:, 1], expected)
    assert texts(ax.get_xticklabels()) == ["chr1", "chr2", "chr3"]


def test_tests_of_all_features():
    X, y, _ = make_data1(200, 30, random_state=0)
    places = ["1"] * 30, range(30)
    scan = hsic_scan(X, y)
    ax = plot_manhattan(scan, places)
    assert ax.get_ylabel() == "-log10 of the p-value"
    cloud = np.concatenate([one.get_offsets() for one in ax.collections[:-1]])
    np.testing.assert_allclose(np.sort(cloud[:, 1]), np.sort(-np.log10(scan.p_value)))
    found = scan.found()
    assert texts(ax.texts) == [one.name for one in found.features]
    np.testing.assert_allclose(dots(ax)[:, 1], [-np.log10(one.p_value) for one in found.features])
    selector = SelectByTest("n_features", 2).fit(X, y)
    assert len(dots(plot_manhattan(selector, places))) == 2
    with pytest.raises(InvalidInputError, match="tests do not know where features lie"):
        plot_manhattan(scan)
    with pytest.raises(InvalidInputError, match="places has 2 columns, but the selector was"):
        plot_manhattan(scan, (["1", "1"], [1, 2]))


def test_places_that_cannot_be():
    X, y, _ = make_data1(60, 6, random_state=0)
    selector = HSICLasso(2).fit(X, y)
    with pytest.raises(InvalidInputError, match="no selected feature has a chromosome"):
        plot_manhattan(selector)
    with pytest.raises(InvalidInputError, match="does not know where its column 'x0' lies"):
        plot_manhattan(selector, X)
    with pytest.raises(InvalidInputError, match="has 2 chromosomes and 3 positions"):
        plot_manhattan(selector, (["1", "2"], [1, 2, 3]))
    with pytest.raises(InvalidInputError, match="places has 3 columns, but the selector was"):
        plot_manhattan(selector, (["1", "1", "2"], [1, 2, 3]))
    with pytest.raises(InvalidInputError, match="selected is a result"):
        plot_manhattan(selector.result_, (["1"] * 6, range(6)))


@pytest.fixture(scope="module")
def images():
    X, y, _ = make_data1(100, 24, random_state=0)
    return X, HSICLasso(4).fit(X, y).result_


class TestPixels:
    def test_weights_stand_where_the_pixels_are(self, images):
        _, result = images
        ax = plot_pixels(result, (4, 6))
        (image,) = ax.images
        mask = image.get_array().filled(np.nan)
        assert mask.shape == (4, 6)
        expected = np.full(24, np.nan)
        expected[[f.index for f in result.features]] = [f.weight for f in result.features]
        np.testing.assert_array_equal(mask.ravel(), expected)
        (frames,) = ax.lines
        found = {(int(y), int(x)) for x, y in frames.get_xydata()}
        assert found == {divmod(f.index, 6) for f in result.features}
        assert ax.get_title(loc="left") == "4 of 24 pixels"
        (image,) = plot_pixels(result, (6, 4), order="F").images
        np.testing.assert_array_equal(image.get_array().filled(np.nan), mask.T)
        with pytest.raises(InvalidInputError, match="order='K' is unknown: choose 'C' or 'F'"):
            plot_pixels(result, (4, 6), order="K")

    def test_the_mean_image_lies_behind(self, images):
        X, result = images
        ax = plot_pixels(result, (4, 6), X, ax=Figure().add_subplot())
        behind, _ = ax.images
        np.testing.assert_allclose(behind.get_array(), X.mean(axis=0).reshape(4, 6))

    @pytest.mark.parametrize("shape", [(5, 5), (24,), (4, 6, 1), (4.5, 6), (-4, -6)])
    def test_shapes_of_other_tables(self, images, shape):
        with pytest.raises(InvalidInputError, match="must be the height and the width"):
            plot_pixels(images[1], shape)

    def test_other_tables(self, images):
        with pytest.raises(InvalidInputError, match="X has 23 columns, but the features were"):
            plot_pixels(images[1], (4, 6), images[0][:, :23])

    def test_nothing_selected(self, nothing):
        ax = plot_pixels(nothing, (2, 4))
        assert len(ax.lines[0].get_xydata()) == 0
