"""Names that a terminal or a spreadsheet would obey, other encodings, and Ctrl-C."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from hsiclasso import HSICLasso, StabilitySelection, hsic_scan, hsic_scan_pairs
from hsiclasso._display import as_cell, printable
from tests.cli.helpers import run, succeed

N = 60
#: Names that are commands elsewhere.
ESCAPES = ("\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "a\rb", "a\nb", "\u202egnp", "tab\there")
FORMULAS = ("=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-2+3", "\t=1+1")


def write(file, names, rng):
    X = rng.standard_normal((N, len(names)))
    y = np.abs(X).sum(axis=1) + 0.01 * rng.standard_normal(N)
    np.savez(file, X=X, y=y, feature_names=np.array(names))
    return file


def test_names_do_not_reach_the_terminal_as_commands(tmp_path, rng):
    file = write(tmp_path / "t.npz", ESCAPES, rng)
    for command in (
        ("select", "-k", len(ESCAPES)),
        ("test",),
        ("compare", "-k", 3, "--methods", "hsic_lasso,hsic_ranking"),
    ):
        result = succeed(command[0], file, *command[1:])
        shown = result.stdout + result.stderr
        assert not [letter for letter in shown if not letter.isprintable() and letter != "\n"]
        assert r"\x1b" in shown or command[0] != "select"
    message = run("select", file, "--keep", "\x1b[31mno").stderr
    assert "\x1b" not in message


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_formulas_are_text_in_spreadsheets(tmp_path, rng, suffix):
    file, out = write(tmp_path / "t.npz", [*FORMULAS, "plain"], rng), tmp_path / f"r.{suffix}"
    succeed("select", file, "-k", 6, "--out", out)
    with out.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="," if suffix == "csv" else "\t"))
    assert {row["name"] for row in rows} == {*(f"'{name}" for name in FORMULAS), "plain"}
    assert all(float(row["weight"]) >= 0 for row in rows)


def test_results_as_text_are_printed_safely(rng):
    X = pd.DataFrame(rng.standard_normal((N, len(ESCAPES))), columns=ESCAPES)
    y = np.abs(X.to_numpy()).sum(axis=1)
    selection = HSICLasso(4).fit(X, y).result_
    stable = StabilitySelection(HSICLasso(2), n_pairs=2, random_state=0).fit(X, y).result_
    for result in (selection, stable, hsic_scan(X, y), hsic_scan_pairs(X, y)):
        text = repr(result)
        assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]


def test_warnings_speak_of_options(tmp_path, rng):
    frame = pd.DataFrame(rng.standard_normal((N, 3)), columns=["a", "b", "c"])
    frame.insert(0, "sample_id", np.arange(1001, 1001 + N))
    frame.loc[::9, "b"] = -99
    frame["y"] = [f"s{i}" for i in range(N)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    warned = succeed("select", tmp_path / "t.csv", "-t", "y", "-k", 1).stderr
    for words in (
        "leave it out with --drop 'sample_id'.",
        "read the file with --na -99.",
        "or pass --kind real if these",
    ):
        assert words in warned
    assert "on the command line" not in warned


def test_what_is_escaped():
    assert printable("Größe β 🧬 'x'") == "Größe β 🧬 'x'"
    assert printable("a\x00\x7f\u2028") == r"a\x00\x7f\u2028"
    assert as_cell(-1.5) == -1.5
    assert as_cell("") == ""


def shell(*words, **options):
    """Start the shell as a process of its own."""
    code = "import sys; sys.argv[0] = 'hsiclasso'; from hsiclasso.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def test_names_outside_the_encoding_of_the_output(tmp_path, rng):
    file = write(tmp_path / "t.npz", ["größe", "β", "🧬"], rng)
    env = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    out, err = shell("select", file, "-k", 3, "--out", tmp_path / "r.csv", env=env).communicate()
    assert b"Traceback" not in err
    assert out.decode("ascii").count("\n") > 3
    assert "🧬" in (tmp_path / "r.csv").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="sends signals of POSIX")
@pytest.mark.parametrize("delay", [0.1, 0.9])
def test_an_interrupt_at_any_time_ends_cleanly(tmp_path, rng, delay):
    file = write(tmp_path / "t.npz", [f"g{j}" for j in range(300)], rng)
    # the first line of the process says that its own code runs: before, Python itself starts
    code = (
        "import sys; sys.stdout.write('ready\\n'); sys.stdout.flush();"
        "sys.argv[0] = 'hsiclasso'; from hsiclasso.cli import main; main()"
    )
    words = ["select", file, "-k", "5", "--stability", "100", "--out", tmp_path / "r.csv"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode == 0:  # it was done before
        assert (tmp_path / "r.csv").exists()
        return
    assert (process.returncode, out) == (130, ""), (process.returncode, err)
    assert err.endswith("Interrupted\n")
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.npz"]
