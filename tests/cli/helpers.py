"""A cohort in a file, and the command line on it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.cli.app import app
from hsiclasso.cli.build import make_selector

N = 90
FEATURES = ("lab0", "lab1", "lab2", "lab3", "sex", "smoker", "site", "east", "north")
TARGETS = ("patient", "risk", "grade", "visits", "ill", "far", "months", "died", "w")
#: What could tell rich of another terminal than the runner's.
NO_TERMINAL = {"COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}


def cohort():
    """Return columns: four measurements, sex, smoking, site, place, and targets of each kind."""
    rng = np.random.default_rng(1)
    lab = rng.standard_normal((N, 4)).round(3)
    lab[:, 3] = lab[:, 2] + 0.05 * rng.standard_normal(N).round(3)
    smoker = rng.random(N) < 0.5
    risk = np.abs(lab[:, 2]) + smoker
    return {
        **{f"lab{j}": lab[:, j] for j in range(4)},
        "sex": rng.choice(["f", "m"], N),
        "smoker": np.where(smoker, "true", "false"),
        "site": rng.integers(1, 4, N),
        "east": rng.random(N).round(3),
        "north": rng.random(N).round(3),
        "patient": [f"P{i}" for i in range(N)],
        "risk": risk.round(3),
        "grade": np.digitize(risk, [0.7, 1.4]),
        "visits": rng.poisson(np.exp(risk)),
        "ill": (risk > 1).astype(int),
        "far": np.where(risk > 1, "far", "near"),
        "months": rng.exponential(np.exp(-2 * risk)).round(4) + 0.001,
        "died": (rng.random(N) < 0.7).astype(int),
        "w": rng.integers(0, 3, N),
    }


def write(file, columns, delimiter=",", **changes):
    """Write columns, with other cells in some rows of some of them."""
    table = {name: list(values) for name, values in columns.items()}
    for name, cells in changes.items():
        for row, cell in cells.items():
            table[name][row] = cell
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return file


def drop(*used):
    """Return options that leave out what is neither a feature nor used."""
    return [part for name in TARGETS if name not in used for part in ("--drop", name)]


def run(*arguments, **env):
    return CliRunner(env=NO_TERMINAL | env).invoke(app, [*map(str, arguments)])


def succeed(*arguments, **env):
    result = run(*arguments, **env)
    assert result.exit_code == 0, result.output
    return result


def fail(*arguments):
    """Return the one line that an error ends in, after click's usage where there is that."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    *usage, last = result.stderr.splitlines()
    assert not usage or usage[0].startswith("Usage: ")
    assert last.startswith("Error: ")
    return last


def select(file, *arguments):
    """Return the result of a selection as a dictionary."""
    return json.loads(succeed("select", file, "--json", *arguments).stdout)


def selector(*arguments):
    """Return the estimator that the options of ``hsiclasso select`` stand for."""
    command = app.commands["select"]
    given = ["no.csv", *map(str, arguments)]
    # click remembers the help option of a command: it must be that of the whole program
    with command.make_context("select", given, **app.context_settings) as context:
        return make_selector(context.params)
