"""The entry point and the group of commands."""

from __future__ import annotations

import errno
import importlib.util
import subprocess
import sys

import pytest

pytest.importorskip("click")
import click
from click.testing import CliRunner

import hsiclasso
from hsiclasso.cli import main
from hsiclasso.cli.app import app


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.stdout == f"hsiclasso {hsiclasso.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["select"], ["compare"], ["demo"]])
def test_help(arguments):
    result = CliRunner().invoke(app, [*arguments, "-h"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def test_options_of_select_are_under_headings():
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["select", "-h"]).stdout.splitlines()
    headings = [line for line in lines if line and line[0] != " " and line[-1] == ":"]
    assert [heading.split(" (")[0].rstrip(":") for heading in headings] == [
        "Target", "Columns", "How many features", "What is known about features",
        "Kernels and measure", "Output",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith(" " * 33) for line in lines)
    assert "  hsiclasso select genes.csv --target tumour" in "\n".join(lines[-6:])


def test_every_option_of_the_estimators_has_its_name():
    from hsiclasso import HSICLasso

    here = {param.name for param in app.commands["select"].params}
    elsewhere = {
        "n_features_to_select": "n_features",
        "n_groups_to_select": "n_groups",
        "n_neighbors": "neighbors",
        "measure": "method",
    }
    python_only = {"penalty_weights", "group_weights", "positive", "embedding"}
    wanted = set(HSICLasso().get_params()) - python_only
    assert {elsewhere.get(name, name) for name in wanted} <= here


def test_the_entry_point_runs_the_group(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hsiclasso", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("hsiclasso ")


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_the_entry_point_names_the_extra(monkeypatch, capsys, missing):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else find(name)
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert message == f"Error: the command line needs {missing}: pip install 'hsiclasso[cli]'\n"


def test_help_loads_nothing_heavy():
    code = (
        "import sys; import hsiclasso; before = set(sys.modules)\n"
        "import hsiclasso.cli.app\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'rich', 'matplotlib', 'numba', 'pyarrow', 'pandas'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_broken_pipe_is_quiet(monkeypatch):
    def leave():
        raise OSError(errno.EPIPE, "Broken pipe")

    monkeypatch.setitem(app.commands, "leave", click.Command("leave", callback=leave))
    result = CliRunner().invoke(app, ["leave"])
    assert result.exit_code == 1
    assert result.output == ""
