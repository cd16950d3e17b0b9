"""``--fdr`` and ``-k auto``: how many features there are, from the shell."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from hsiclasso import make_copies

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.cli.app import app
from tests.cli.helpers import NO_TERMINAL


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X, y, origin = make_copies(250, 40, n_copies=2, random_state=0)
    frame = pd.DataFrame(X).rename(columns=lambda j: f"gene{j}_{origin[j]}")
    frame["y"], frame["shuffled"] = y, np.random.default_rng(0).permutation(y)
    frame["w"], frame["half"] = 1.0, 0.5
    path = tmp_path_factory.mktemp("cohort") / "genes.csv"
    frame.to_csv(path, index=False)
    return path


@cache
def run(file, *options):
    arguments = ["select", str(file), "--neighbors", "0", *options]
    for name in ("w", "half"):
        arguments += [] if name in options else ["--drop", name]
    return CliRunner(env=NO_TERMINAL).invoke(app, arguments)


def test_each_cause_is_found_once(file):
    shown = run(file, "-t", "y", "--drop", "shuffled", "--json", "-k", "auto")
    assert shown.exit_code == 0, shown.output
    result = json.loads(shown.stdout)
    causes = [one["name"].split("_")[1] for one in result["features"]]
    assert set(causes) >= {"0", "1", "2", "3"}
    assert len(causes) <= 5
    assert all(one["q_value"] <= 0.1 for one in result["features"])
    assert result["error_control"]["level"] == 0.1
    table = run(file, "-t", "y", "--drop", "shuffled", "-q", "--fdr", "0.1").stdout
    assert " q " in table


def test_both_ways_give_the_same(file):
    options = ("-t", "y", "--drop", "shuffled", "--json", "--max-redundancy", "0.95")
    shown = [run(file, *options, *more).stdout for more in (["--fdr", "0.1"], ["-k", "auto"])]
    assert shown[0] == shown[1]
    assert shown[0] != run(file, *options[:-2], "-k", "auto").stdout  # that of the test above
    strict = json.loads(run(file, *options, "-k", "auto", "--fdr", "0.01").stdout)
    assert strict["error_control"]["level"] == 0.01


def test_a_plan_and_parts_of_it(file, tmp_path):
    runner = CliRunner(env=NO_TERMINAL)
    chosen = [str(file), "-t", "y", "--drop", "shuffled", "-k", "auto"]
    planned = runner.invoke(app, ["plan", *chosen])
    assert "The tests of candidates come after it" in " ".join(planned.stdout.split())
    whole = json.loads(runner.invoke(app, ["select", *chosen, "--json", "--neighbors", "0"]).stdout)
    folder = str(tmp_path / "job")
    split = ["split", chosen[0], folder, "--parts", "2", *chosen[1:]]
    for command in (split, ["run", folder, "1", "-q"], ["run", folder, "2", "-q"]):
        done = runner.invoke(app, command)
        assert done.exit_code == 0, done.output
    merged = json.loads(runner.invoke(app, ["merge", folder, "--json"]).stdout)
    assert merged["features"] == whole["features"]
    assert merged["error_control"] == whole["error_control"]


def test_a_shuffled_target_yields_nothing_and_is_no_error(file):
    shown = run(file, "-t", "shuffled", "--drop", "y", "--fdr", "0.1")
    assert shown.exit_code == 0
    assert "Nothing found at a false discovery rate of 0.1" in " ".join(shown.stdout.split())
    assert "rank" not in shown.stdout
    result = run(file, "-t", "shuffled", "--drop", "y", "--fdr", "0.1", "--json")
    assert json.loads(result.stdout)["features"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fdr", "2"], "--fdr 2, but a false discovery rate lies between 0 and 1"),
        (["--fdr", "0.1", "-k", "5"], "-k has no meaning with --fdr"),
        (["--fdr", "0.1", "--alpha", "3"], "--alpha has no meaning with --fdr"),
        (["-k", "auto", "--alpha", "3"], "--alpha 3 says where the path ends, but -k auto finds"),
        (["-k", "auto", "--keep", "gene1_1"], "--keep has features that would be selected"),
        (["--fdr", "0.1", "--keep", "gene1_1"], "selected without a test, but ControlledSelection"),
        (["-k", "auto", "--weights", "half"], "--weights has values other than 0 and 1"),
        (["--fdr", "0.1", "--weights", "w"], "--weights has no meaning with --fdr"),
        (["-k", "many"], "'many' is not a valid integer"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_contradict_each_other(file, options, message):
    shown = run(file, "-t", "y", *options)
    assert shown.exit_code == 2
    assert message in " ".join(shown.stderr.split())
