"""AnnData files on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import HSICLasso, open_anndata
from tests.cli.helpers import fail, select, succeed

ad = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
pytest.importorskip("h5py")


@pytest.fixture
def cells(tmp_path, rng):
    X = rng.poisson(1.0, (90, 15)).astype(np.float32)
    kind = np.where(X[:, 3] + X[:, 8] > 1, "b", "a")
    obs = pd.DataFrame(
        {"kind": kind, "batch": rng.choice(["x", "y"], 90)}, index=[f"c{i}" for i in range(90)]
    )
    made = ad.AnnData(
        sparse.csr_matrix(X), obs=obs, var=pd.DataFrame(index=[f"g{j}" for j in range(15)])
    )
    made.layers["log"] = np.log1p(X)
    made.raw = made
    made = made[:, :10].copy()
    made.strings_to_categoricals()
    made.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


@pytest.mark.parametrize(
    ("options", "choice"),
    [((), {}), (("--layer", "log"), {"layer": "log"}), (("--raw",), {"raw": True})],
)
def test_select(cells, options, choice):
    given = ("-t", "kind", "--covariate", "batch", "-k", 2, "--neighbors", 0)
    document = select(cells, *given, *options)
    source = open_anndata(cells, **choice)
    expected = HSICLasso(2, covariates=["batch"]).fit(source, "kind").result_
    assert document == json.loads(expected.to_json())
    assert document["data"]["n_columns"] == (15 if "--raw" in options else 10)


def test_compare(cells):
    out = succeed("compare", cells, "-t", "kind", "-k", 2, "--methods", "hsic_lasso,mrmr").stdout
    assert "g3" in out


def test_result_in_a_copy(cells, tmp_path):
    before = cells.read_bytes()
    out = tmp_path / "out.h5ad"
    shown = succeed("select", cells, "-t", "kind", "-k", 2, "--out", out).stdout
    assert f"Written: {out}" in shown
    made = ad.read_h5ad(out)
    assert made.var["hsiclasso_selected"].sum() == 2
    assert made.uns["hsiclasso"]["params"]["target"] == "kind"
    assert cells.read_bytes() == before


def test_result_of_raw_in_a_copy(cells, tmp_path):
    out = tmp_path / "out.h5ad"
    result = succeed("select", cells, "-t", "kind", "-k", 14, "--raw", "--out", out)
    assert "of the selected genes are in raw only" in result.stderr
    made = ad.read_h5ad(out)
    assert {"g8", "g3", "g13"} <= set(made.uns["hsiclasso"]["names"])
    assert made.uns["hsiclasso"]["params"]["matrix"] == "raw"
    assert 2 <= made.var["hsiclasso_selected"].sum() < made.uns["hsiclasso"]["names"].size


def test_errors(cells, tmp_path):
    given = ("select", cells, "-t", "kind")
    assert "has no layer 'lg': it has 'log'" in fail(*given, "--layer", "lg")
    assert "are two different matrices" in fail(*given, "--layer", "log", "--raw")
    assert "would overwrite it" in fail(*given, "--out", cells)
    assert "did you mean 'kind'?" in fail("select", cells, "-t", "kin")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    table = ("select", tmp_path / "t.csv", "-t", "b")
    assert "FILE is no .h5ad: write .csv" in fail(*table, "--out", tmp_path / "o.h5ad")
    assert "is a part of AnnData files" in fail(*table, "--raw")
    comparison = ("compare", cells, "-t", "kind", "--out", tmp_path / "o.h5ad")
    assert "has the suffix '.h5ad'" in fail(*comparison)
    cells.write_bytes(cells.read_bytes()[:3000])
    assert "cells.h5ad cannot be read" in fail(*given)
