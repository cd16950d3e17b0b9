"""The README's first screen, and the script that CI runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import hsiclasso
from hsiclasso import HSICLasso

ROOT = Path(__file__).parents[1]


def first_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:bash|sh|shell)\n(.*?)```", text, flags=re.S)
    return [line for block in blocks[:1] for line in block.splitlines() if line and line[0] != "#"]


def test_first_screen_has_exactly_two_commands():
    run, test = first_commands()
    assert run.endswith("hsiclasso demo")
    assert all(command.startswith("python3 -m venv .venv && ") for command in (run, test))


def test_ci_runs_the_second_command_and_nothing_else():
    """Before it, a browser is installed for the tests of reports; where that fails, CI goes on."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    strict, folder, browser, *commands = [line for line in script if line and line[0] != "#"]
    assert (strict, folder) == ("set -euo pipefail", 'cd "$(dirname "$0")/.."')
    installs = re.fullmatch(
        r"command -v chromium >/dev/null \|\| \{ (.*); \} >.* \|\| echo .*", browser
    )
    assert [re.sub(r"^.*?(?=apt-get)", "", part) for part in installs[1].split(" && ")] == [
        "apt-get -qq update", "apt-get -qq install -y --no-install-recommends chromium"
    ]  # fmt: skip
    assert commands == [first_commands()[1]]


def option_snippets():
    """The code in the first column of the table of options."""
    text = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    table = text.split("| option | what it does |")[1].split("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()]
    return [code for cell in cells for code in re.findall("`(.*?)`", cell)]


def test_options_of_the_table_exist():
    snippets = option_snippets()
    assert len(snippets) > 20
    given = [re.match(r"(?:fit\()?(\w+)=", code) for code in snippets]
    names = {found[1] for found in given if found}
    fit = inspect.signature(HSICLasso.fit).parameters
    assert names <= HSICLasso().get_params(deep=False).keys() | fit.keys()
    assert names > {"kernel", "target", "penalty", "alpha", "n_neighbors"}
    objects = {name for code in snippets for name in re.findall(r"\b([A-Z]\w+)\(", code)}
    assert objects <= set(hsiclasso.__all__)


def test_project_files_exist():
    for name in ("LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md"):
        assert (ROOT / name).stat().st_size > 200
    assert (ROOT / "src" / "hsiclasso" / "py.typed").exists()
