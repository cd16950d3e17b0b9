"""Completion, and the exit codes that the guide lists."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("click")
import click
from click.shell_completion import ShellComplete

from hsiclasso.cli.app import app
from tests.cli.helpers import run, succeed

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell):
    script = succeed("completion", shell).stdout
    assert f"_HSICLASSO_COMPLETE={shell}_complete" in script
    if path := shutil.which(shell):
        subprocess.run([path, "-n"], input=script, text=True, check=True)


def test_another_shell_is_refused():
    result = run("completion", "tcsh")
    assert result.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.stderr


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "se", {"select"}),
        (["select"], "--save", {"--save-config"}),
        (["select", "--solver"], "ho", {"homotopy"}),
    ],
)
def test_what_is_completed(words, incomplete, expected):
    complete = ShellComplete(app, {}, "hsiclasso", "_HSICLASSO_COMPLETE")
    found = {item.value for item in complete.get_completions(words, incomplete)}
    assert found == expected


def raising(error):
    def callback():
        raise error

    return click.Command("leave", callback=callback)


#: What ends with each code that the guide lists.
ENDS = {
    0: ["--version"],
    1: OSError(errno.EPIPE, "Broken pipe"),
    2: ["select", "no.csv", "-t", "y"],
    130: KeyboardInterrupt(),
}


@pytest.mark.parametrize("code", ENDS)
def test_exit_codes(code, monkeypatch):
    how = ENDS[code]
    if not isinstance(how, list):
        monkeypatch.setitem(app.commands, "leave", raising(how))
        how = ["leave"]
    assert run(*how).exit_code == code


@pytest.mark.parametrize("where", ["docs/shell.md", "help"])
def test_the_codes_that_are_listed(where):
    if where == "help":
        text = run("--help").stdout.partition("Exit codes:")[2]
        listed = re.findall(r"^ +(\d+)  ", text, flags=re.M)
    else:
        text = (ROOT / where).read_text(encoding="utf-8").partition("## Exit codes")[2]
        listed = re.findall(r"^\| (\d+) \|", text, flags=re.M)
    assert list(map(int, listed)) == list(ENDS)
