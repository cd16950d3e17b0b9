"""Options in a file: what is saved is what was said, and the command line wins."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("click")
import click

from hsiclasso.cli.app import app
from hsiclasso.cli.config import as_toml
from tests.cli.helpers import drop, fail, succeed

SELECT = app.commands["select"]
BASIC = ("-t", "risk", *drop("risk"), "-k", 3)
#: Texts that TOML can hold: no lone halves of characters.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
PATHS = st.text("abc .é'\"\\#=[]", min_size=1).map(Path)


def values_of(param):
    """A strategy for the value of a parameter."""
    kind = param.type
    if getattr(param, "is_flag", False):
        return st.booleans()
    if isinstance(kind, click.Choice):
        one = st.sampled_from(list(kind.choices))
    elif isinstance(kind, click.Path):
        one = PATHS
    elif kind is click.INT or kind.name == "integer":
        one = st.integers(-5, 10**12)
    elif kind.name == "float":
        one = st.floats(allow_nan=False)
    elif kind.name == "number":
        one = st.integers(-5, 10**6) | st.just("auto")
    else:
        one = TEXTS
    if param.nargs > 1:
        return st.tuples(*[one] * param.nargs)
    return st.lists(one, max_size=3).map(tuple) if getattr(param, "multiple", False) else one


PARAMS = {p.name: p for p in SELECT.params if p.expose_value and p.name != "save_config"}


@st.composite
def chosen(draw):
    """Values of some of the options, as they are typed, and FILE."""
    some = draw(st.lists(st.sampled_from(sorted(set(PARAMS) - {"file"})), unique=True, max_size=8))
    return {name: draw(values_of(PARAMS[name])) for name in ["file", *some]}


def typed(values):
    """Return a command line."""
    words = []
    for name, value in values.items():
        param = PARAMS[name]
        option = max(param.opts, key=len)
        if name == "file":
            continue
        if getattr(param, "is_flag", False):
            words += [option] if value else []
        elif getattr(param, "multiple", False):
            for one in value:
                words += [f"{option}={one}"]
        elif param.nargs > 1:
            words += [option, *map(str, value)]
        else:
            words += [f"{option}={value}"]
    return [*words, "--", str(values["file"])]


def parse(words):
    return SELECT.make_context("hsiclasso select", list(words), **app.context_settings)


@given(chosen())
def test_every_option_survives_the_file(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("config") / "run.toml"
    with parse(typed(values)) as said:
        file.write_text(as_toml(said), encoding="utf-8")
    with parse(["--config", str(file)]) as again:
        assert again.params == said.params
        text = as_toml(again)
    assert text == file.read_text(encoding="utf-8")
    tomllib.loads(text)


def test_defaults_are_saved_too(tmp_path):
    with parse(["a.csv"]) as said:
        saved = tomllib.loads(as_toml(said))
    keys = {max(param.opts, key=len).lstrip("-") for param in PARAMS.values()}
    assert {"file", "missing", "method", "neighbors", "quiet"} <= set(saved) <= keys
    assert saved["gram-error"] == 1e-6


def test_the_same_result_again_and_the_command_line_wins(tmp_path, table):
    file = tmp_path / "run.toml"
    first = succeed("select", table, *BASIC, "--json", "--save-config", file).stdout
    assert succeed("select", "--config", file).stdout == first
    more = json.loads(succeed("select", "--config", file, "-k", 1).stdout)
    assert len(more["features"]) == 1
    said = succeed("select", table, *BASIC, "--save-config", file).stdout
    assert f"Written: {file}" in said


@pytest.mark.parametrize("command", ["test", "compare"])
def test_other_commands(tmp_path, table, command):
    file = tmp_path / "run.toml"
    options = ["-t", "risk", *drop("risk"), "--drop", "sex", "--drop", "smoker"]
    if command == "compare":
        options += ["-k", 2, "--methods", "hsic_lasso,mi_ranking"]
    out = tmp_path / "found.csv"
    succeed(command, table, *options, "--out", out, "--save-config", file)
    first = out.read_text()
    succeed(command, "--config", file)
    assert out.read_text() == first
    assert "-k" not in tomllib.loads(file.read_text())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targt = ['risk']", "has 'targt', which is no option of hsiclasso select (did you mean "
         "'target'"),
        ("save-config = 'a.toml'", "has 'save-config', which is no option"),
        ("n_features = 3", "(did you mean 'n-features'"),
        ("target = 'risk", "is no TOML file ("),
        ("json = 'yes'", "has json = 'yes', but it must be true or false."),
        ("n-features = [1, 2]", "has n-features = [1, 2], but it must be a text or a number."),
        ("drop = [['a']]", "has drop = [['a']], but it must be a list."),
        ("drop = true", "has drop = True, but it must be a list."),
        ("[select]\nk = 3", "has 'select', which is no option"),
        ("n-features = 2.5", "'2.5' is not a valid integer"),
        ("solver = 'fast'", "'fast' is not one of"),
    ],
)  # fmt: skip
def test_files_that_are_refused(tmp_path, table, text, message):
    file = tmp_path / "run.toml"
    file.write_text(text, encoding="utf-8")
    assert message in fail("select", table, "-t", "risk", "--config", file)


def test_one_value_stands_for_a_list_of_one(tmp_path, table):
    file = tmp_path / "run.toml"
    file.write_text('target = "risk"\nn-features = 1\n', encoding="utf-8")
    unused = drop("risk")
    found = json.loads(succeed("select", table, *unused, "--config", file, "--json").stdout)
    assert len(found["features"]) == 1


def test_a_file_that_is_not_there_and_one_that_cannot_be_written(tmp_path, table):
    missing = tmp_path / "no.toml"
    assert f"{missing}: No such file" in fail("select", table, "-t", "risk", "--config", missing)
    wrong = tmp_path / "run.txt"
    message = fail("select", table, *BASIC, "--save-config", wrong)
    assert f"--save-config {wrong} has the suffix '.txt'" in message


def test_the_guide_names_options_and_keys_that_exist(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
    known = {
        option for one in app.commands.values() for param in one.params for option in param.opts
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | {"--help"}
    (block,) = re.findall(r"```toml\n(.*?)```", text, flags=re.S)
    file = tmp_path / "run.toml"
    file.write_text(block, encoding="utf-8")
    with parse(["--config", str(file)]) as context:
        assert context.params["target"] == ("tumour",)
        assert context.params["cv"] == 5
    commands = re.findall(r"^\| (`.*?`) \|", text.partition("## How many")[0], flags=re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(commands))) == set(app.commands)
