"""``hsiclasso compare``, from the command line to files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.baselines import METHODS, compare
from hsiclasso.cli import parse
from hsiclasso.cli.app import app
from hsiclasso.data.files import read_table

N, CAUSAL = 60, "gene 3"
QUICK = ("hsic_lasso", "mrmr", "hsic_ranking")
#: What could tell rich of another terminal than the runner's.
NO_TERMINAL = {"COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}


@pytest.fixture(scope="module")
def columns():
    """Return a table whose label and whose score depend on one gene."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 6)).round(4)
    table = {f"gene {j}": X[:, j] for j in range(6)}
    table["label"] = np.where(np.abs(X[:, 3]) > 0.7, "far", "near")
    table["score"] = (X[:, 3] ** 2).round(4)
    table["months"] = (0.01 + rng.exponential(np.exp(-2 * np.abs(X[:, 3])))).round(4)
    table["died"] = (rng.random(N) < 0.8).astype(int)
    return table


TARGETS = ("label", "score", "months", "died")


def write(file, columns):
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return file


@pytest.fixture
def table(tmp_path, columns):
    return write(tmp_path / "table.csv", columns)


def run(*arguments, **env):
    return CliRunner(env=NO_TERMINAL | env).invoke(app, ["compare", *map(str, arguments)])


def drop(*used):
    """Options that leave out the targets that are not used."""
    return [part for name in TARGETS if name not in used for part in ("--drop", name)]


def options(target="score", methods=QUICK):
    return ("-t", target, *drop(target), "-k", 3, "--methods", ",".join(methods))


def compared(file, *arguments, **env):
    result = run(file, *arguments, **env)
    assert result.exit_code == 0, result.output
    return result


def test_methods_of_the_help_are_those_of_the_registry():
    assert tuple(METHODS) == parse.METHODS
    words = " ".join(run("-h").stdout.split())
    assert f"{', '.join(METHODS)}. [default: all]" in words


def test_help_is_quick():
    code = (
        "import sys, click.testing; from hsiclasso.cli.app import app\n"
        "for arguments in (['-h'], ['--methods', 'x', 'no.csv']):\n"
        "    click.testing.CliRunner().invoke(app, ['compare', *arguments])\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'sklearn', 'scipy', 'numba', 'rich', 'matplotlib'}, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestTables:
    def test_methods_and_votes(self, table):
        result = compared(table, *options())
        lines = result.stdout.splitlines()
        assert result.stderr == ""
        rows = [line.split() for line in lines if line[1:4] in ("a  ", "b  ", "c  ")]
        assert [row[1] for row in rows] == ["HSIC", "mRMR", "HSIC"]
        found = compare(*features_and_target(table, "score"), 3, methods=QUICK)
        for line, outcome in zip(lines[3:6], found.outcomes, strict=True):
            assert outcome.title in line
            assert f"{outcome.redundancy:.2f}   {', '.join(outcome.features)}" in line
        first = next(line for line in lines if line.startswith(f" {CAUSAL}"))
        assert first.split()[2:] == ["3", "1.0", "1", "1", "1"]
        assert "regression, 60 samples x 6 columns. 3 of 3 methods ran, each for 3" in lines[-1]

    def test_features_come_by_votes(self, table):
        found = compare(*features_and_target(table, "score"), 3, methods=QUICK)
        out = compared(table, *options()).stdout
        votes = out[out.index(" votes ") :].splitlines()[2:-2]
        assert [line[1:7] for line in votes] == list(found.votes())
        assert [int(line.split()[2]) for line in votes] == list(found.votes().values())
        dashes = sum(line.count(" -") for line in votes)
        assert dashes == 3 * len(found.votes()) - sum(found.votes().values())

    def test_quiet_prints_the_tables_alone(self, table):
        out = compared(table, *options(), "-q").stdout
        assert "mean rank" in out
        assert "methods ran" not in out

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    def test_lines_fit_the_terminal(self, tmp_path, columns, width):
        long = {f"a rather long name of {name}": values for name, values in columns.items()}
        file = write(tmp_path / "long.csv", {**long, "y": columns["score"]})
        unused = [part for name in TARGETS for part in ("--drop", f"a rather long name of {name}")]
        arguments = ("-t", "y", *unused, "-k", 6, "--methods", ",".join(QUICK), "-q")
        lines = compared(file, *arguments, COLUMNS=str(width)).stdout.splitlines()
        assert max(map(len, lines)) <= width
        assert (" more" in "".join(lines)) == (width < 200)

    def test_names_are_printed_as_they_are(self, tmp_path, rng):
        X = rng.standard_normal((30, 2))
        np.savez(tmp_path / "t.npz", X=X, y=X[:, 0], feature_names=["[bold]a[/bold]", "b"])
        out = compared(tmp_path / "t.npz", "-t", "y", "-k", 1, "--methods", "hsic_ranking").stdout
        assert out.count("[bold]a[/bold]") == 2

    def test_the_same_table_gives_the_same_answer(self, table, monkeypatch):
        seeds = []

        class Random(METHODS["hsic_ranking"]):
            def __init__(self, n_features_to_select=None, *, random_state=None):
                super().__init__(n_features_to_select)
                self.random_state = random_state

            def _choose(self, job):
                seeds.append(self.random_state)
                return super()._choose(job)

        methods = {**METHODS, "hsfs": Random}
        monkeypatch.setattr("hsiclasso.baselines.comparison.METHODS", methods)
        for _ in range(2):
            out = compared(table, *options(methods=("mrmr", "hsfs"))).stdout
            assert "2 of 2 methods ran" in out
        assert seeds[0] is not None
        assert seeds[0] == seeds[1]

    def test_warnings_say_whose_they_are(self, tmp_path, rng):
        x = rng.standard_normal(40)
        X = np.column_stack([x, 2 * x, -x, np.ones(40)])
        np.savez(tmp_path / "t.npz", X=X, y=x)
        methods = ("hsic_lasso", "nocco_lasso", "mrmr")
        result = compared(tmp_path / "t.npz", "-t", "y", "-k", 3, "--methods", ",".join(methods))
        fewer = [line for line in result.stderr.splitlines() if "features selected" in line]
        assert [line.split(": ")[1] for line in fewer] == ["HSIC Lasso", "NOCCO Lasso"]
        rest = set(result.stderr.splitlines()) - set(fewer)
        assert all(line.startswith("Warning: 1 of 4 columns do not vary") for line in rest)
        assert len(rest) == 2

    def test_progress_names_the_methods(self, table):
        shown = compared(table, *options(), FORCE_COLOR="1").stderr
        assert "Methods" in shown
        for flag in ("--quiet", "--json"):
            assert compared(table, *options(), flag, FORCE_COLOR="1").stderr == ""


def features_and_target(file, *target, category=()):
    read = read_table(file, target, drop=[n for n in TARGETS if n not in target], category=category)
    return read.source, read.y


class TestTargets:
    """The command gives the methods what `compare` gives them."""

    def agrees(self, file, arguments, found):
        document = json.loads(compared(file, *arguments, "--json").stdout)
        assert [o["features"] for o in document["outcomes"]] == [
            list(o.features) for o in found.outcomes
        ]
        assert [o["skipped"] for o in document["outcomes"]] == [o.skipped for o in found.outcomes]

    @pytest.mark.parametrize(
        ("target", "more", "parameters"),
        [
            ("label", (), {}),
            ("score", ("--y-transform", "rank"), {"y_transform": "rank"}),
            ("died", ("--task", "regression"), {"task": "regression"}),
        ],
    )
    def test_one_column(self, table, target, more, parameters):
        found = compare(*features_and_target(table, target), 3, methods=QUICK, options=parameters)
        assert found.ran
        self.agrees(table, (*options(target), *more), found)

    def test_several_columns(self, table):
        arguments = ("-t", "score", "-t", "months", *drop("score", "months"), "-k", 3)
        arguments += ("--methods", ",".join(QUICK), "--multioutput", "average")
        data = features_and_target(table, "score", "months")
        found = compare(*data, 3, methods=QUICK, options={"multioutput": "average"})
        self.agrees(table, arguments, found)

    def test_survival(self, table):
        arguments = ("--survival", "months", "died", *drop("months", "died"), "-k", 2)
        data = features_and_target(table, "months", "died")
        found = compare(*data, 2, methods=QUICK, options={"task": "survival"})
        assert found.outcomes[0].features[0] == CAUSAL
        self.agrees(table, (*arguments, "--methods", ",".join(QUICK)), found)

    def test_labels_of_numbers(self, table):
        found = compare(*features_and_target(table, "score", category=["gene 1"]), 3, methods=QUICK)
        self.agrees(table, (*options(), "--category", "gene 1"), found)

    def test_ordered_labels(self, tmp_path, columns):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({f"gene {j}": columns[f"gene {j}"] for j in range(6)})
        codes = np.digitize(columns["score"], [0.3, 1.0])
        grade = pd.Categorical.from_codes(codes, ["mild", "fair", "bad"], ordered=True)
        file = tmp_path / "t.parquet"
        frame.assign(grade=grade).to_parquet(file)
        arguments = ("-t", "grade", "-k", 3, "--methods", ",".join(QUICK))
        found = compare(frame, codes, 3, methods=QUICK, options={"task": "ordinal"})
        self.agrees(file, arguments, found)
        assert compared(file, *arguments).stdout.splitlines()[-1].startswith("ordinal, ")

    @pytest.mark.parametrize("form", ["--affinity", "--graph"])
    def test_a_matrix_between_samples(self, table, tmp_path, columns, form):
        score = columns["score"]
        matrix = np.exp(-((score[:, None] - score) ** 2))
        matrix = matrix if form == "--affinity" else (matrix > 0.8) - np.eye(N)
        np.save(tmp_path / "K.npy", matrix.astype(float))
        methods = ("hsic_lasso", "mrmr", "hsic_ranking")
        arguments = (form, tmp_path / "K.npy", *drop(), "-k", 2, "--methods", ",".join(methods))
        arguments += ("--beta", 2) if form == "--graph" else ()
        result = compared(table, *arguments)
        assert "structured, 60 samples x 6 columns. 2 of 3 methods ran" in result.stdout
        line = next(line for line in result.stdout.splitlines() if "left out" in line)
        assert line.startswith("mRMR left out: y_kernel=")
        assert "Diffusion(beta=2.0)" in line or form == "--affinity"


class TestLeftOut:
    def test_the_reason_is_said(self, table):
        methods = ("lasso", "mrmr", "hsic_ranking")
        arguments = ("--survival", "months", "died", *drop("months", "died"), "-k", 2)
        result = compared(table, *arguments, "--methods", ",".join(methods), "-q")
        lines = [line for line in result.stdout.splitlines() if "left out" in line]
        assert any("Lasso left out: " in line and "survival" in line for line in lines)
        assert all("HSIC ranking" not in line for line in lines)

    def test_no_option_is_ignored(self, table, monkeypatch):
        import hsiclasso.baselines.comparison as comparison

        class WithoutTransform(METHODS["hsic_ranking"]):
            def __init__(self, n_features_to_select=None):
                super().__init__(n_features_to_select)

        methods = {**METHODS, "hsic_ranking": WithoutTransform}
        monkeypatch.setattr(comparison, "METHODS", methods)
        arguments = (table, *options(), "--y-transform", "rank")
        out = compared(*arguments).stdout
        said = "HSIC ranking left out: y_transform='rank' is given, but HSIC ranking has no such"
        assert said in out
        document = json.loads(compared(*arguments, "--json").stdout)
        assert document["outcomes"][2]["features"] == []
        assert document["outcomes"][2]["skipped"].endswith("leave it out to let HSIC ranking run.")

    def test_no_method_can_run(self, table, tmp_path):
        np.save(tmp_path / "K.npy", np.eye(N))
        arguments = ("--affinity", tmp_path / "K.npy", *drop(), "-k", 2)
        out = tmp_path / "comparison.csv"
        result = run(table, *arguments, "--methods", "mrmr", "--out", out)
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: mRMR: y_kernel='precomputed' has no meaning")
        result = run(table, *arguments, "--methods", "mrmr,lasso", "--out", out)
        assert result.stderr.startswith("Error: none of the 2 methods can run; the first, mRMR: ")
        assert len(result.stderr.splitlines()) == 1
        assert not out.exists()


class TestFiles:
    @pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
    def test_separated_text(self, tmp_path, table, suffix, delimiter):
        out = tmp_path / f"comparison{suffix}"
        assert f"Written: {out}" in compared(table, *options(), "--out", out).stdout
        with out.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream, delimiter=delimiter))
        assert [row["method"] for row in rows] == [name for name in QUICK for _ in range(3)]
        assert [row["rank"] for row in rows] == ["1", "2", "3"] * 3
        assert list(rows[0]) == ["method", "rank", "name", "index", "score"]
        assert (rows[0]["name"], rows[0]["index"]) == (CAUSAL, "3")

    def test_json(self, tmp_path, table):
        out = tmp_path / "comparison.json"
        result = compared(table, *options(), "--out", out, "--json")
        document = json.loads(result.stdout)
        assert json.loads(out.read_text(encoding="utf-8")) == document
        assert result.stderr == ""
        assert [outcome["method"] for outcome in document["outcomes"]] == list(QUICK)
        sizes = (document["n_samples"], document["n_features"], document["n_requested"])
        assert sizes == (N, 6, 3)

    def test_plot(self, tmp_path, table):
        pytest.importorskip("matplotlib")
        plot = tmp_path / "ranks.svg"
        assert f"Written: {plot}" in compared(table, *options(), "--plot", plot).stdout
        text = plot.read_text(encoding="utf-8")
        assert CAUSAL in text
        assert "mRMR" in text


class TestErrors:
    def fail(self, *arguments):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert result.stdout == ""
        return result.stderr.splitlines()[-1]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--methods", "mrmrr"), "no method 'mrmrr' (did you mean 'mrmr'?): choose among hsic"),
            (("--methods", "QPFS"), "did you mean 'qpfs'?"),
            (("--methods", "mrmr,"), "there is no method ''"),
            (("--methods", "mrmr,qpfs,mrmr"), "'mrmr' is given twice"),
            (("-k", "0"), "0 is not in the range x>=1"),
            (("--y-transform", "log"), "'log' is not one of 'none', 'rank'"),
            (("--survival", "months", "died"), "--target and --survival both say what to expl"),
            (("--drop", "score"), "column 'score' is named both by --target and by --drop"),
            (("--multioutput", "joint"), "is for several targets: repeat --target"),
            (("--missing", "ignore"), "No such option"),
            (("--weights", "w"), "No such option"),
        ],
    )
    def test_before_the_file_is_read(self, tmp_path, arguments, message):
        # were the file looked at, the error would be that it is not there
        assert message in self.fail(tmp_path / "no.csv", "-t", "score", *arguments)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("-t", "scores"), "did you mean 'score'?"),
            (("-t", "score", "-k", "7", *drop("score")), "greater than n_features=6"),
            (("-t", "label", "--task", "regression", *drop("label")), "needs a numeric y"),
            (("-t", "score", "--task", "counts", *drop("score")), "counts are whole numbers"),
        ],
    )
    def test_before_any_method_runs(self, table, tmp_path, monkeypatch, arguments, message):
        monkeypatch.setattr("hsiclasso.baselines.comparison._run", None)
        out = tmp_path / "comparison.csv"
        assert message in self.fail(table, *arguments, "--out", out)
        assert not out.exists()

    def test_what_is_missing_or_infinite(self, tmp_path, columns, monkeypatch):
        monkeypatch.setattr("hsiclasso.baselines.comparison._run", None)
        gaps = {**columns, "gene 1": ["", *columns["gene 1"][1:]]}
        message = self.fail(write(tmp_path / "gaps.csv", gaps), *options())
        assert "column 'gene 1' has no value in data row 1: fill it in, or leave the" in message
        assert "--drop 'gene 1'" in message
        assert "--missing" not in message
        gaps = {**columns, "score": [*columns["score"][:-1], "NA"]}
        message = self.fail(write(tmp_path / "gaps.csv", gaps), *options())
        assert "target 'score' has no value in data row 60 (1 rows in all): fill it" in message
        assert "--missing" not in message
        far = {**columns, "gene 2": [*columns["gene 2"][:-1], "inf"]}
        message = self.fail(write(tmp_path / "far.csv", far), *options())
        assert "infinity in column 'gene 2'" in message

    @pytest.mark.parametrize(
        ("option", "name", "message"),
        [
            ("--out", "result.xlsx", "use one of .csv, .tsv, .json"),
            ("--plot", "figure.gif", "use one of .png, .svg, .pdf"),
            ("--out", "no/result.csv", "which does not exist: create it first"),
            ("--out", "table.csv", "would overwrite it"),
            ("--out", "K.csv", "would overwrite it"),
        ],
    )
    def test_outputs_are_checked_first(self, table, tmp_path, monkeypatch, option, name, message):
        monkeypatch.setattr("hsiclasso.data.files.read_table", None)
        (tmp_path / "K.csv").write_text("1,0\n0,1\n")
        form = ("--affinity", tmp_path / "K.csv")
        assert message in self.fail(table, *form, option, tmp_path / name)
        assert (tmp_path / "K.csv").read_text() == "1,0\n0,1\n"

    def test_an_interruption_writes_nothing(self, table, tmp_path, monkeypatch):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("hsiclasso.baselines.comparison._run", interrupt)
        result = run(table, *options(), "--out", tmp_path / "comparison.csv")
        assert result.exit_code == 130
        assert result.stderr == "Interrupted\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]
