"""Genes of AnnData objects, with the result written as scanpy does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import (
    AlphaRatio,
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    StabilitySelection,
    select_genes,
)
from hsiclasso.selectors.genes import save_genes

ad = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
COLUMNS = ["k_selected", "k_weight", "k_rank", "k_relevance"]


@pytest.fixture
def adata(rng):
    X = rng.poisson(1.0, (90, 15)).astype(np.float32)
    kind = (X[:, 3] + X[:, 8] > 1).astype(int)
    obs = pd.DataFrame(
        {"kind": pd.Categorical(np.array(["a", "b"])[kind]), "batch": rng.choice(["x", "y"], 90)},
        index=[f"c{i}" for i in range(90)],
    )
    var = pd.DataFrame({"long": True}, index=[f"g{j}" for j in range(15)])
    made = ad.AnnData(sparse.csr_matrix(X), obs=obs, var=var)
    made.layers["log"] = np.log1p(X)
    return made


def check(var, selector, key="k"):
    """Compare columns of `var` with a fitted selector of the same genes."""
    assert np.flatnonzero(var[f"{key}_selected"]).tolist() == sorted(selector.selected_)
    np.testing.assert_allclose(var[f"{key}_weight"], selector.coef_, rtol=1e-12)
    np.testing.assert_allclose(var[f"{key}_relevance"], selector.relevance_, rtol=1e-12)
    ranked = var[f"{key}_rank"].dropna().sort_values()
    assert ranked.tolist() == list(range(1, 1 + selector.selected_.size))
    assert list(ranked.index) == list(selector.result_.names)


def test_what_is_written(adata):
    assert select_genes(adata, "kind", n_genes=3, covariates="batch", key_added="k") is None
    selector = HSICLasso(3, covariates=["batch"]).fit(adata, "kind")
    assert list(adata.var.columns) == ["long", *COLUMNS]
    check(adata.var, selector)
    about = adata.uns["k"]
    assert about["names"].tolist() == list(selector.result_.names)
    np.testing.assert_allclose(about["weights"], selector.coef_[selector.selected_], rtol=1e-12)
    assert about["params"]["target"] == "kind"
    assert about["params"]["matrix"] == "X"
    assert about["params"]["covariates"].tolist() == ["batch"]
    assert about["certificate"]["duality_gap"] < 1e-10


def test_genes_of_an_embedding_lasso(adata):
    select_genes(adata, "kind", n_genes=2, key_added="k", selector=EmbeddingLasso())
    selector = EmbeddingLasso(2).fit(adata, "kind")
    check(adata.var, selector)
    assert set(selector.result_.names) == {"g3", "g8"}
    assert selector.score(adata, adata.obs["kind"]) > 0.8


def test_what_is_written_can_be_stored(adata, tmp_path):
    select_genes(adata, "kind", n_genes=3)
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = ad.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(back.var, adata.var)
    assert back.uns["hsiclasso"]["names"].tolist() == adata.uns["hsiclasso"]["names"].tolist()
    assert back.uns["hsiclasso"]["status"] == "N_FEATURES"
    assert back.uns["hsiclasso"]["params"]["n_samples"] == 90


def test_a_copy(adata):
    made = select_genes(adata, "kind", n_genes=2, copy=True)
    assert made.var["hsiclasso_selected"].sum() == 2
    assert list(adata.var.columns) == ["long"]
    assert "hsiclasso" not in adata.uns


def test_a_view_becomes_an_object(adata):
    view = adata[:80, :12]
    select_genes(view, "kind", n_genes=2)
    assert not view.is_view
    assert view.var["hsiclasso_selected"].sum() == 2
    assert list(adata.var.columns) == ["long"]


def test_again(adata):
    select_genes(adata, "kind", n_genes=2)
    select_genes(adata, "kind", n_genes=4)
    assert adata.var["hsiclasso_selected"].sum() == 4
    assert adata.var.columns.is_unique


def test_layers_and_values_of_the_target(adata):
    y = adata.obs["kind"].to_numpy() == "a"
    log = pd.DataFrame(adata.layers["log"], columns=adata.var_names)
    select_genes(adata, y, n_genes=2, layer="log", key_added="k")
    check(adata.var, HSICLasso(2).fit(log, y))
    params = adata.uns["k"]["params"]
    assert (params["target"], params["matrix"]) == ("values", "log")


def test_a_gene_as_target(adata):
    select_genes(adata, "g3", n_genes=2, key_added="k")
    assert not adata.var.loc["g3", "k_selected"]
    assert np.isnan(adata.var.loc["g3", "k_relevance"])
    assert adata.var["k_selected"].sum() == 2


def test_raw(adata):
    adata.raw = adata
    part = adata[:, [0, 3, 5]].copy()
    with pytest.warns(UserWarning, match=r"1 of the selected genes are in raw only.*'g8'.*uns\['k"):
        select_genes(part, "kind", n_genes=2, use_raw=True, key_added="k")
    assert part.uns["k"]["names"].tolist() == list(HSICLasso(2).fit(adata, "kind").result_.names)
    assert part.var["k_selected"].tolist() == [False, True, False]
    assert part.uns["k"]["params"]["matrix"] == "raw"


def test_options_and_selectors(adata):
    select_genes(adata, "kind", alpha=AlphaRatio(0.5), key_added="k")
    check(adata.var, HSICLasso(alpha=AlphaRatio(0.5)).fit(adata, "kind"))
    selector = NOCCOLasso(2)
    select_genes(adata, "kind", selector=selector, key_added="k")
    check(adata.var, NOCCOLasso(2).fit(adata, "kind"))
    assert not hasattr(selector, "coef_")
    select_genes(adata, "kind", selector=selector, n_genes=3, key_added="k")
    assert adata.var["k_selected"].sum() == 3
    select_genes(adata, "kind", selector=HSICLasso(2, joint={"j": ["g3", "g8"]}), key_added="k")
    assert adata.var.loc[["g3", "g8"], "k_rank"].nunique() == 1
    with pytest.raises(InvalidInputError, match="selector and 'alpha' both give parameters"):
        select_genes(adata, "kind", selector=selector, alpha=1.0)


def test_genes_found_by_tests(adata):
    select_genes(adata, "kind", n_genes="auto", covariates="batch", key_added="k")
    found = HSICLasso("auto", covariates=["batch"]).fit(adata, "kind")
    check(adata.var, found)
    assert found.selected_.size
    np.testing.assert_array_equal(adata.var["k_q_value"], found.q_values_)
    controlled = ControlledSelection()
    select_genes(adata, "kind", selector=controlled, covariates="batch", key_added="c")
    np.testing.assert_array_equal(adata.var["c_q_value"], found.q_values_)
    assert adata.uns["c"]["params"]["covariates"].tolist() == ["batch"]
    assert controlled.selector is None
    wrapped = ControlledSelection(EmbeddingLasso(covariates=["batch"]))
    select_genes(adata, "kind", selector=wrapped, n_genes="auto", key_added="e")
    assert adata.uns["e"]["params"]["method"] == "Embedding Lasso"
    assert adata.uns["e"]["params"]["covariates"].tolist() == ["batch"]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (ControlledSelection(), "n_genes=3, but ControlledSelection finds out how many genes"),
        (StabilitySelection(), "gives genes no weights: pass HSICLasso"),
    ],
)
def test_selectors_that_do_not_fit(adata, selector, message):
    with pytest.raises(InvalidInputError, match=message):
        select_genes(adata, "kind", selector=selector, n_genes=3)


@pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
def test_the_usual_number(rng):
    X = rng.random((40, 30))
    adata = ad.AnnData(X, obs=pd.DataFrame({"y": X[:, 0]}, index=[f"c{i}" for i in range(40)]))
    select_genes(adata, "y")
    assert adata.var["hsiclasso_selected"].sum() == 20


def test_backed(adata, tmp_path):
    adata.write_h5ad(tmp_path / "a.h5ad")
    before = (tmp_path / "a.h5ad").read_bytes()
    backed = ad.read_h5ad(tmp_path / "a.h5ad", backed="r")
    select_genes(backed, "kind", n_genes=2, key_added="k")
    check(backed.var, HSICLasso(2).fit(adata, "kind"))
    with pytest.raises(InvalidInputError, match="copy=True, but adata is backed by a file"):
        select_genes(backed, "kind", copy=True)
    backed.file.close()
    assert (tmp_path / "a.h5ad").read_bytes() == before


def test_what_is_no_object(adata):
    with pytest.raises(InvalidInputError, match=r"adata is a str, but the result is written"):
        select_genes("a.h5ad", "kind")

    class Lazy:
        obs = var = layers = obs_names = var_names = None

    with pytest.raises(InvalidInputError, match=r"adata\.var is a NoneType, to which nothing"):
        select_genes(Lazy(), "kind")


def test_nothing_is_written_if_the_fit_fails(adata):
    before = pickle.dumps(adata.var)
    with pytest.raises(InvalidInputError, match="did you mean 'kind'"):
        select_genes(adata, "kin")
    assert pickle.dumps(adata.var) == before


class TestCopiesOfFiles:
    ABOUT = {"target": ("kind",)}  # noqa: RUF012

    def test_today(self, adata, tmp_path):
        file, out = tmp_path / "a.h5ad", tmp_path / "b.h5ad"
        adata.uns["other"] = 1
        adata.write_h5ad(file)
        before = file.read_bytes()
        selector = HSICLasso(3).fit(file, "kind")
        save_genes(selector, file, out, self.ABOUT, "k")
        assert file.read_bytes() == before
        back = ad.read_h5ad(out)
        check(back.var, selector)
        assert list(back.var.columns) == ["long", *COLUMNS]
        select_genes(adata, "kind", n_genes=3, key_added="k")
        pd.testing.assert_frame_equal(back.var, adata.var)
        assert back.uns["k"].keys() == adata.uns["k"].keys()
        assert back.uns["k"]["params"].keys() == adata.uns["k"]["params"].keys()
        assert back.uns["k"]["names"].tolist() == adata.uns["k"]["names"].tolist()
        assert back.uns["other"] == 1
        pd.testing.assert_frame_equal(back.obs, adata.obs)
        # once more, from the copy
        save_genes(HSICLasso(2).fit(out, "kind"), out, tmp_path / "c.h5ad", self.ABOUT, "k")
        again = ad.read_h5ad(tmp_path / "c.h5ad")
        assert again.var["k_selected"].sum() == 2
        assert list(again.var.columns) == ["long", *COLUMNS]

    @pytest.mark.filterwarnings("ignore:.*very old version of AnnData")
    @pytest.mark.filterwarnings("ignore:Element '.*' was written without encoding metadata")
    def test_the_first_generation(self, adata, tmp_path):
        h5py = pytest.importorskip("h5py")
        file, out = tmp_path / "a.h5ad", tmp_path / "b.h5ad"
        with h5py.File(file, "w") as made:
            made["X"] = adata.X.toarray()
            obs = np.zeros(90, dtype=[("index", "S4"), ("kind", "i1")])
            obs["index"], obs["kind"] = list(adata.obs_names), adata.obs["kind"].cat.codes
            var = np.zeros(15, dtype=[("index", "S4"), ("k_rank", "f4")])
            var["index"] = list(adata.var_names)
            made["obs"], made["var"] = obs, var
            made["uns/kind_categories"] = np.array([b"a", b"b"])
        selector = HSICLasso(3).fit(file, "kind")
        save_genes(selector, file, out, self.ABOUT, "k")
        check(ad.read_h5ad(out).var, selector)

    def test_all_or_nothing(self, adata, tmp_path, monkeypatch):
        file = tmp_path / "a.h5ad"
        adata.write_h5ad(file)
        selector = HSICLasso(3).fit(file, "kind")
        monkeypatch.setattr("hsiclasso.data.anndata_out._write", _fail)
        with pytest.raises(OSError, match="disk full"):
            save_genes(selector, file, tmp_path / "b.h5ad", self.ABOUT)
        assert [path.name for path in tmp_path.iterdir()] == ["a.h5ad"]


def _fail(*_):
    raise OSError("disk full")
