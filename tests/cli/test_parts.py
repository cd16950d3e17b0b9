"""``hsiclasso plan``, and a selection in parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hsiclasso.dependence import budget
from tests.cli.helpers import run


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(budget, "_CHUNK", 5 * 8 * 80)


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 30))
    y = X[:, 4] + X[:, 20] ** 2
    names = ",".join([*(f"g{j}" for j in range(30)), "y"])
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=names, comments="")
    return path


def answer(*arguments):
    result = run(*map(str, arguments))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refusal(*arguments):
    result = run(*map(str, arguments))
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


OPTIONS = ("-t", "y", "-k", "3", "--joint", "pair=g1,g25", "--memory-limit", "500MB")


@pytest.mark.parametrize("method", ["hsic", "embedding"])
def test_parts_like_one_run(file, tmp_path, monkeypatch, method):
    options = (*OPTIONS, "--method", method)
    expected = json.loads(answer("select", file, *options, "--neighbors", 0, "--json"))
    folder = tmp_path / "work"
    assert "hsiclasso run" in answer("split", file, folder, "--parts", 4, *options)
    monkeypatch.chdir(tmp_path.parent)  # paths of the job are absolute
    for number in (4, 2, 1):
        answer("run", folder, number, "-q")
    assert "1 of 4 parts" in refusal("merge", folder)
    answer("run", folder, 3)
    answer("run", folder, 3)  # again: nothing is done
    found = json.loads(answer("merge", folder, "--json"))
    assert found["features"] == expected["features"]
    out = tmp_path / "out.csv"
    answer("merge", folder, "--out", out, "--report", tmp_path / "report.html")
    assert "hsiclasso merge" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert out.read_text().count("\n") == 4


def test_options_of_a_job_keep_their_types(file, tmp_path):
    """Also those that may be given repeatedly, and paths among them."""
    people = tmp_path / "people.csv"
    people.write_text("who,risk\n" + "".join(f"s{i},{i % 7}\n" for i in range(80)))
    lines = file.read_text().splitlines()
    lines = [f"{'who' if i == 0 else f's{i - 1}'},{line}" for i, line in enumerate(lines)]
    file.write_text("\n".join(lines))
    options = ("--phenotype", people, "--id", "who", "-t", "risk", "--na", "x", "--drop", "y")
    expected = json.loads(answer("select", file, *options, "--neighbors", 0, "--json"))
    answer("split", file, tmp_path / "work", "--parts", 1, *options)
    answer("run", tmp_path / "work", 1)
    found = json.loads(answer("merge", tmp_path / "work", "--json"))
    assert found["features"] == expected["features"]


def test_what_is_refused(file, tmp_path):
    folder = tmp_path / "work"
    assert "has no job" in refusal("run", folder, 1)
    assert "--parts 0 must be" in refusal("split", file, folder, "--parts", 0, *OPTIONS)
    assert "did you mean" in refusal("split", file, folder, "--parts", 2, "-t", "g33")
    assert not folder.exists()
    answer("split", file, folder, "--parts", 2, *OPTIONS)
    assert "has a job already" in refusal("split", file, folder, "--parts", 2, *OPTIONS)
    assert "parts 1 to 2" in refusal("run", folder, 3)
    assert "give it to split" in refusal("run", folder, 1, "--memory-limit", "1GB")
    answer("run", folder, 1)
    file.write_text(file.read_text().replace("g7", "h7"))
    assert "another table" in refusal("run", folder, 2)
    job = folder / "job.json"
    job.write_text(job.read_text().replace('"n_features": ', '"n_features": 1'))
    assert "it was changed or damaged" in refusal("run", folder, 2)
    job.write_text("{}")
    assert "is no job" in refusal("run", folder, 2)


def test_checkpoint_of_select(file, tmp_path):
    folder = tmp_path / "kept"
    first = answer("select", file, *OPTIONS, "--checkpoint", folder, "--json")
    assert len(list((folder / "relevance").iterdir())) > 3
    assert (
        json.loads(answer("select", file, *OPTIONS, "--checkpoint", folder, "--json"))["features"]
        == (json.loads(first)["features"])
    )
    assert "another target" in refusal(
        "select", file, "-t", "g3", "--drop", "y", "--checkpoint", folder
    ) or "another table" in refusal("select", file, "-t", "g3", "--checkpoint", folder)


def test_plan(file):
    text = answer("plan", file, "-t", "y", "-k", 3)
    assert "80 samples x 30 features" in text
    assert json.loads(answer("plan", file, "-t", "y", "--json"))["n_features"] == 30


def test_plan_of_a_store_in_chunks_of_rows(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr("hsiclasso.data.stored._SMALL_BYTES", 0)
    monkeypatch.setattr("hsiclasso.dependence.budget._CHUNK", 5000)
    X = np.random.default_rng(0).random((80, 60))
    group = zarr.create_group(tmp_path / "t.zarr")
    group.create_array("X", data=X, chunks=(10, 60))
    group.create_array("y", data=X[:, 3])
    made = json.loads(answer("plan", tmp_path / "t.zarr", "-t", "y", "--json"))
    assert made["bytes_read"] == (2 + made["n_passes"]) * X.nbytes
    assert "10 samples x 60 features, and is re-chunked once" in made["advice"][0]


def test_no_scheduler(file, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("hsiclasso.dependence.cluster._PATIENCE", 0.5)
    words = refusal("select", file, "-t", "y", "--scheduler", "tcp://127.0.0.1:9")
    assert "No scheduler answers" in words
