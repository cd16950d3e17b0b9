"""The entry point and the group of commands."""

from __future__ import annotations

import errno
import importlib.util
import subprocess
import sys

import pytest

pytest.importorskip("click")
import click

import hsiclasso
from hsiclasso.cli import main
from hsiclasso.cli.app import app
from tests.cli.helpers import run


def test_version():
    assert run("--version").stdout == f"hsiclasso {hsiclasso.__version__}\n"


@pytest.mark.parametrize("arguments", [[], *([name] for name in app.commands)])
def test_help(arguments):
    result = run(*arguments, "-h")
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def test_options_of_select_are_under_headings():
    lines = run("select", "--help-all", COLUMNS="80").stdout.splitlines()
    headings = [line for line in lines if line and line[0] != " " and line[-1] == ":"]
    assert [heading.split(" (")[0].rstrip(":") for heading in headings] == [
        "Target", "File", "Columns", "How many features", "What matters only jointly",
        "What is known about features", "Kernels and measure", "Large tables", "Output",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith(" " * 33) for line in lines)
    assert "  hsiclasso select genes.csv --target tumour" in "\n".join(lines[-10:])


def test_every_parameter_of_the_estimator_has_an_option():
    here = {param.name for param in app.commands["select"].params}
    elsewhere = {
        "n_features_to_select": "n_features", "n_neighbors": "neighbors", "measure": "method",
        "resources": "checkpoint", "fill": "no_fill",
    }  # fmt: skip
    wanted = set(hsiclasso.HSICLasso().get_params())
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


def test_an_interrupt_that_a_library_turned_into_its_own_error(tmp_path, monkeypatch):
    """Classes that are being made when Ctrl-C comes end in a RuntimeError, for example."""

    def fail(*arguments, **options):
        raise RuntimeError("Error calling __set_name__")

    monkeypatch.setattr("hsiclasso.data.files.read_table", fail)
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    assert isinstance(run("select", tmp_path / "t.csv", "-t", "y").exception, RuntimeError)
    monkeypatch.setattr("hsiclasso.cli._pressed", True)
    result = run("select", tmp_path / "t.csv", "-t", "y")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted\n")


def test_the_short_help_is_part_of_the_whole_one():
    short, whole = (run("select", option).stdout for option in ("--help", "--help-all"))
    assert len(short.splitlines()) < 70 < 115 < len(whole.splitlines())
    assert "--fdr" in short
    assert "--graph-kernel" not in short
    assert "--graph-kernel" in whole
    options = [line.split()[0] for line in short.splitlines() if line.startswith("  -")]
    assert len(options) > 15
    assert all(option in whole for option in options)
    hidden = whole.count("\n  -") - len(options)
    assert f"lists {hidden} more options" in short
    assert "--help-all" not in run("demo", "--help").stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys, click.testing; from hsiclasso.cli.app import app\n"
        "for words in (['-h'], ['select', '-h'], ['compare', '-h'], ['select', 'f', '--no']):\n"
        "    click.testing.CliRunner().invoke(app, words)\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'numpy', 'sklearn', 'scipy', 'numba', 'rich', 'matplotlib'}, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_broken_pipe_is_quiet(monkeypatch):
    def leave():
        raise OSError(errno.EPIPE, "Broken pipe")

    monkeypatch.setitem(app.commands, "leave", click.Command("leave", callback=leave))
    result = run("leave")
    assert result.exit_code == 1
    assert result.output == ""
