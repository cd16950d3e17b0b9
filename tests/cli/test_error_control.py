"""``--fdr`` and ``-k auto``: how many features there are, from the shell."""

from __future__ import annotations

import json

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
    frame["w"] = 1.0
    path = tmp_path_factory.mktemp("cohort") / "genes.csv"
    frame.to_csv(path, index=False)
    return path


def run(file, *options):
    arguments = ["select", str(file), "--drop", "w", "--neighbors", "0", *options]
    return CliRunner(env=NO_TERMINAL).invoke(app, arguments)


@pytest.mark.parametrize("option", [["--fdr", "0.1"], ["-k", "auto"]], ids=" ".join)
def test_each_cause_is_found_once(file, option):
    shown = run(file, "-t", "y", "--drop", "shuffled", "--json", *option)
    assert shown.exit_code == 0, shown.output
    result = json.loads(shown.stdout)
    causes = [one["name"].split("_")[1] for one in result["features"]]
    assert set(causes) >= {"0", "1", "2", "3"}
    assert len(causes) <= 5
    assert all(one["q_value"] <= 0.1 for one in result["features"])
    assert result["error_control"]["level"] == 0.1
    table = run(file, "-t", "y", "--drop", "shuffled", "-q", *option).stdout
    assert " q " in table


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
        (["-k", "auto", "--alpha", "3"], "--alpha has no meaning with -k auto"),
        (["--fdr", "0.1", "--weights", "w"], "--weights has no meaning with --fdr"),
        (["-k", "many"], "'many' is not a valid integer"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_contradict_each_other(file, options, message):
    shown = run(file, "-t", "y", *options)
    assert shown.exit_code == 2
    assert message in " ".join(shown.stderr.split())
