"""``hsiclasso test``: p-values of the features of a file."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from hsiclasso import hsic_scan
from tests.cli.helpers import N, drop, fail, succeed, write


def found(file, *arguments):
    """Return what is found as a dictionary."""
    return json.loads(succeed("test", file, "--json", *arguments).stdout)


def test_finds_what_the_target_depends_on(table, columns):
    made = found(table, "-t", "risk", *drop("risk"))
    names = [feature["name"] for feature in made["features"]]
    assert {"lab2", "smoker"} <= set(names)
    assert made["target"] == "real"
    assert (made["n_samples"], made["n_features"]) == (N, 9)
    lab = np.column_stack([columns[f"lab{j}"] for j in range(4)])
    scan = hsic_scan(lab, columns["risk"])
    by_name = {feature["name"]: feature["p_value"] for feature in made["features"]}
    assert by_name["lab2"] == pytest.approx(scan.p_value[2], rel=1e-6)


def test_table_and_files(table, tmp_path):
    options = ("-t", "ill", *drop("ill"))
    shown = succeed("test", table, *options, "--out", tmp_path / "found.csv")
    assert "lab2" in shown.stdout
    assert "false discovery rate of 0.1" in shown.stdout
    assert "family p" not in shown.stdout
    with (tmp_path / "found.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["name"] for row in rows] == [f["name"] for f in found(table, *options)["features"]]
    quiet = succeed("test", table, *options, "-q")
    assert "false discovery rate" not in quiet.stdout


def test_a_long_list_is_cut_on_the_terminal_only(tmp_path, rng):
    y = rng.normal(size=60)
    columns = {f"g{j}": y + rng.normal(0, 0.1, 60) for j in range(53)}
    file, out = write(tmp_path / "t.csv", columns | {"y": y}), tmp_path / "found.csv"
    shown = succeed("test", file, "-t", "y", "--out", out).stdout
    assert "53 features found" in shown
    assert "The first 50 are shown; --out and --json write all." in shown
    ranks = [line.split()[0] for line in shown.splitlines() if " g" in line]
    assert ranks == [str(rank) for rank in range(1, 51)]
    assert len(out.read_text().splitlines()) == 54
    assert len(found(file, "-t", "y")["features"]) == 53


def test_nothing_found_is_no_failure(table, columns, tmp_path):
    rng = np.random.default_rng(5)
    noise = write(tmp_path / "noise.csv", columns | {"risk": rng.normal(size=N)})
    shown = succeed("test", noise, "-t", "risk", *drop("risk"))
    assert shown.stdout.startswith("Nothing found at a false discovery rate of 0.1")
    assert found(noise, "-t", "risk", *drop("risk"))["features"] == []


def test_pairs(tmp_path, rng):
    lab = rng.standard_normal((150, 5)).round(3)
    columns = {f"lab{j}": lab[:, j] for j in range(5)} | {"y": lab[:, 0] * lab[:, 3]}
    table = write(tmp_path / "pairs.csv", columns)
    made = found(table, "-t", "y", "--pairs")
    assert (made["features"][0]["first"], made["features"][0]["second"]) == ("lab0", "lab3")
    assert made["n_pairs"] == 10
    shown = succeed("test", table, "-t", "y", "--pairs", "--out", tmp_path / "pairs.tsv")
    assert "lab0 & lab3" in shown.stdout
    assert "found among 10 pairs" in shown.output
    with (tmp_path / "pairs.tsv").open(newline="") as stream:
        assert next(csv.DictReader(stream, delimiter="\t"))["name"] == "lab0 & lab3"
    noise = write(tmp_path / "noise.csv", columns | {"y": rng.normal(size=150)})
    assert "Nothing found among 10 pairs" in succeed("test", noise, "-t", "y", "--pairs").stdout
    assert "--mode fwe has no meaning with --pairs" in fail(
        "test", table, "-t", "y", "--pairs", "--mode", "fwe"
    )


def test_options_change_the_answer(table):
    options = ("-t", "risk", *drop("risk"))
    default = found(table, *options)
    for more in (
        ("--level", "1e-9"),
        ("--mode", "fwe"),
        ("--mode", "n_features", "--level", "1"),
        ("--transform", "none"),
        ("--transform", "rank"),
        ("--kernel", "number=linear"),
        ("--joint", "place=east,north", "--mode", "fpr", "--level", "0.99"),
        ("--n-permutations", "19"),
    ):
        assert found(table, *options, *more) != default
    assert len(found(table, *options, "--mode", "n_features", "--level", "3")["features"]) == 3


def test_permutations(table):
    options = ("-t", "risk", *drop("risk"), "--mode", "fwe_permutation", "--level", "0.2")
    few = found(table, *options, "--n-permutations", "39")
    assert few == found(table, *options, "--n-permutations", "39")
    every = ("--level", "0.99", "--n-permutations", "39")
    assert found(table, *options, *every) != found(table, *options, *every, "--seed", "1")
    assert min(f["family_p_value"] for f in few["features"]) == 1 / 40
    usual = found(table, *options, "--drop", "sex")
    assert min(f["family_p_value"] for f in usual["features"]) == 1 / 1000
    assert "family p" in succeed("test", table, *options, "--n-permutations", "9").stdout


def test_missing_cells(tmp_path, columns):
    gaps = write(tmp_path / "gaps.csv", columns, lab2=dict.fromkeys(range(5), ""), risk={0: ""})
    options = ("-t", "risk", *drop("risk"))
    assert "NaN" in fail("test", gaps, *options)
    made = found(gaps, *options, "--missing", "ignore", "--missing-target", "drop")
    assert (made["n_samples"], made["n_dropped"]) == (N - 1, 1)
    shown = succeed("test", gaps, *options, "--missing", "ignore", "--missing-target", "drop")
    assert "1 sample without a target dropped" in shown.stdout
    few = found(gaps, *options, "--missing", "ignore", "--missing-target", "drop",
                "--min-observed", "0.99")  # fmt: skip
    assert "lab2" not in [feature["name"] for feature in few["features"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--level", "2"), "--level 2.0, but --mode fdr needs a number between 0 and 1"),
        (("--mode", "n_features"), "--level 0.1 must be a whole number"),
        (("--n-permutations", "-1"), "--n-permutations -1 must be a whole number"),
        (("--min-observed", "9"), "--min-observed has no meaning without --missing ignore"),
        (("--out", "found.txt"), "has the suffix '.txt'"),
    ],
)
def test_errors_are_one_line(table, options, message):
    assert message in fail("test", table, "-t", "risk", *drop("risk"), *options)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Return a file in which twelve of twenty features matter."""
    X = np.random.default_rng(0).standard_normal((400, 20)).round(4)
    columns = {f"g{j}": X[:, j] for j in range(20)}
    y = np.abs(X[:, :12]).sum(axis=1)
    return write(tmp_path_factory.mktemp("knockoffs") / "t.csv", columns | {"y": y})


class TestPostSelection:
    OPTIONS = ("-t", "y", "--post-selection", 4)

    def test_is_what_the_function_returns(self, numbers, tmp_path):
        from hsiclasso import HSICLasso, post_selection_test

        expected = post_selection_test(HSICLasso(4), numbers, "y", random_state=0)
        assert expected.features
        made = found(numbers, *self.OPTIONS)
        assert made == json.loads(expected.to_json())
        assert made["quantity"] == "partial"
        out = tmp_path / "tests.csv"
        shown = succeed("test", numbers, *self.OPTIONS, "--out", out).stdout
        for one in expected.features:
            assert f" {one.name} " in shown
            assert f"{one.p_value:.2e}" in shown
        assert "200 samples prepare the selection, 200 select and test" in shown
        with out.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert [row["name"] for row in rows] == [one.name for one in expected.features]
        assert [float(row["p_value"]) for row in rows] == expected.p_values.tolist()

    def test_options_change_the_answer(self, numbers):
        usual = found(numbers, *self.OPTIONS)
        assert found(numbers, *self.OPTIONS, "--quantity", "hsic")["quantity"] == "hsic"
        wide = found(numbers, *self.OPTIONS, "--level", 0.02)
        assert wide["confidence"] == pytest.approx(0.98)
        assert wide["features"][0]["low"] is None or (
            wide["features"][0]["low"] < usual["features"][0]["low"]
        )
        assert found(numbers, *self.OPTIONS, "--seed", 5)["screened"] != usual["screened"]
        laplace = found(numbers, *self.OPTIONS, "--kernel", "laplace")
        assert laplace["alpha"] != usual["alpha"]

    def test_nothing_selected_is_an_answer(self):
        from hsiclasso.cli.tables import selected_table
        from hsiclasso.inference.post_selection_result import PostSelectionResult

        nothing = PostSelectionResult((), ("a", "b"), "hsic", "incomplete", 0.9, 0.1, 20, 20, 80)
        assert nothing.message == "Nothing selected on the second part of the samples."
        assert str(selected_table(nothing)) == nothing.message
        assert nothing.to_rows() == []

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--pairs",), "--pairs has no meaning with --post-selection, which tests only the"),
            (("--knockoffs",), "--knockoffs has no meaning with --post-selection"),
            (("--mode", "fwe"), "--mode has no meaning with --post-selection"),
            (("--joint", "a=g0,g1"), "--joint has no meaning with --post-selection"),
            (("--missing", "ignore"), "--missing has no meaning with --post-selection"),
            (("--level", 2), "--level 2, but --post-selection needs a number between 0 and 1"),
            (("--post-selection", 0), "--post-selection=0 must be a whole number >= 1"),
            (("--quantity", "all"), "'all' is not one of 'partial', 'hsic'"),
        ],
    )
    def test_what_contradicts_it(self, numbers, options, message):
        assert message in fail("test", numbers, *self.OPTIONS, *options)

    def test_quantity_alone(self, numbers):
        assert "--quantity hsic has no meaning without --post-selection" in fail(
            "test", numbers, "-t", "y", "--quantity", "hsic"
        )


class TestKnockoffs:
    OPTIONS = ("-t", "y", "--knockoffs", "--level", 0.2)

    def test_finds_what_the_class_finds(self, numbers, tmp_path):
        from hsiclasso import KnockoffSelection

        expected = KnockoffSelection(q=0.2, random_state=0).fit(numbers, "y").result_
        made = found(numbers, *self.OPTIONS)
        assert made == json.loads(expected.to_json())
        assert set(made["selected"]) >= {f"g{j}" for j in range(12)}
        out = tmp_path / "found.csv"
        shown = succeed("test", numbers, *self.OPTIONS, "--out", out).stdout
        assert "found at a false discovery rate of 0.2 (knockoffs, mvr)." in shown
        assert all(f" g{j} " in shown for j in range(12))
        with out.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert [row["name"] for row in rows if row["selected"] == "True"] == made["selected"]
        assert len(rows) == 20
        other = found(numbers, *self.OPTIONS, "--seed", 3)
        assert other["features"] != made["features"]

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_nothing_is_an_answer(self, numbers):
        shown = succeed("test", numbers, "-t", "g19", "--knockoffs", "--drop", "y")
        assert shown.stdout.startswith("Nothing found at a false discovery rate of 0.1 (knockoffs")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--pairs",), "--pairs has no meaning with --knockoffs, which compares single"),
            (("--mode", "fwe"), "--mode has no meaning with --knockoffs"),
            (("--n-permutations", 9), "--n-permutations has no meaning with --knockoffs"),
            (("--joint", "a=g0,g1"), "--joint has no meaning with --knockoffs"),
            (("--missing", "ignore"), "--missing has no meaning with --knockoffs"),
            (("--checkpoint", "kept"), "--checkpoint has no meaning with --knockoffs"),
            (("--level", 2), "must be a number between 0 and 1"),
        ],
    )
    def test_what_contradicts_them(self, numbers, options, message):
        assert message in fail("test", numbers, *self.OPTIONS, *options)
