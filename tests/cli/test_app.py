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


@pytest.mark.parametrize("arguments", [[], ["select"], ["demo"]])
def test_help(arguments):
    result = CliRunner().invoke(app, [*arguments, "-h"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


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
