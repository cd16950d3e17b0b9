"""``hsiclasso demo``, run once."""

from __future__ import annotations

import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.cli.app import app

FIGURES = ["data1.png", "data2.png", "data2-rank.png", "breast-cancer.png"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    runner = CliRunner(env={"COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None})
    result = runner.invoke(app, ["demo", "--out-dir", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result


def test_figures_are_written_and_listed_last(finished):
    folder, result = finished
    assert sorted(path.name for path in folder.iterdir()) == sorted(FIGURES)
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in FIGURES)
    last = [line.strip() for line in result.stdout.splitlines()[-4:]]
    assert last == [str(folder / name) for name in FIGURES]


def test_tables_name_causal_and_real_features(finished):
    out = finished[1].stdout
    assert "4 of the 4 heaviest features are causal" in out
    assert "3 of the 3 heaviest features are causal" in out
    assert "worst concave points" in out
    assert out.count("Certificate: ") == 4
    assert out.count("selection took ") == 4
    assert finished[1].stderr == ""


def test_a_file_in_the_way(tmp_path):
    file = tmp_path / "taken"
    file.write_text("mine")
    result = CliRunner().invoke(app, ["demo", "--out-dir", str(file)])
    assert result.exit_code == 2
    assert "is a file: give the name of a folder" in result.stderr
    assert file.read_text() == "mine"
