"""``hsiclasso select``, from the command line to files."""

from __future__ import annotations

import csv
import json
import os
import sys

import numpy as np
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.cli.app import app

N, CAUSAL = 60, "gene 3"


@pytest.fixture(scope="module")
def columns():
    """Return a table in which the label depends on one gene, and another is its copy."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 8)).round(4)
    X[:, 5] = X[:, 3] + 0.05 * rng.standard_normal(N).round(4)
    labels = np.where(np.abs(X[:, 3]) > 0.7, "far", "near")
    return X, [f"gene {j}" for j in range(8)], labels


def write_text(file, columns, delimiter):
    X, names, labels = columns
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(["sample", *names, "label"])
        writer.writerows([f"s{i}", *X[i].tolist(), labels[i]] for i in range(N))
    return file


@pytest.fixture
def table(tmp_path, columns):
    return write_text(tmp_path / "table.csv", columns, ",")


#: What could tell rich of another terminal than the runner's.
NO_TERMINAL = {"COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}


def run(*arguments, **env):
    runner = CliRunner(env=NO_TERMINAL | env)
    return runner.invoke(app, ["select", *map(str, arguments)])


def select(file, *arguments):
    result = run(file, "--target", "label", "--drop", "sample", "-k", 3, *arguments)
    assert result.exit_code == 0, result.output
    return result


def test_the_table_shows_features_summary_and_certificate(table):
    out = select(table).stdout
    assert "redundant neighbours (similarity)" in out
    assert CAUSAL in out.splitlines()[3]
    assert "gene 5 (1.00)" in out.splitlines()[3]
    assert "HSIC Lasso, classification, 60 samples x 8 columns. 3 features selected" in out
    assert "Certificate: KKT residual " in out
    assert " of 8 columns touched" in out


def test_quiet_prints_the_table_alone(table):
    out = select(table, "--quiet").stdout
    assert CAUSAL in out
    assert "Certificate" not in out


@pytest.mark.parametrize("suffix", [".tsv", ".npz", ".parquet"])
def test_other_formats_give_the_same(tmp_path, columns, table, suffix):
    X, names, labels = columns
    file = tmp_path / f"other{suffix}"
    if suffix == ".tsv":
        write_text(file, columns, "\t")
    elif suffix == ".npz":
        samples = np.arange(N)[:, None]
        np.savez(file, X=np.hstack([samples, X]), label=labels, feature_names=["sample", *names])
    else:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        stored = {"sample": np.arange(N), **dict(zip(names, X.T, strict=True)), "label": labels}
        parquet.write_table(pa.table(stored), file)
    assert select(file).stdout == select(table).stdout


def test_json_is_all_that_is_printed(table):
    result = select(table, "--json")
    document = json.loads(result.stdout)
    assert document["features"][0]["name"] == CAUSAL
    assert document["task"] == "classification"
    assert document["certificate"]["kkt_residual"] < 1e-10
    assert result.stderr == ""


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_out_as_separated_text(tmp_path, table, suffix, delimiter):
    out = tmp_path / f"result{suffix}"
    assert f"Written: {out}" in select(table, "--out", out).stdout
    with out.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter=delimiter))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["name"] == CAUSAL
    assert float(rows[0]["weight"]) > float(rows[1]["weight"])
    assert rows[0]["neighbours"].count(";") == 2


def test_out_as_json(tmp_path, table):
    out = tmp_path / "result.json"
    printed = select(table, "--out", out, "--json").stdout
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(printed)


def test_plot(tmp_path, table):
    plot = tmp_path / "figure.svg"
    assert f"Written: {plot}" in select(table, "--plot", plot).stdout
    assert "gene 3" in plot.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--method", "nhsic"),
        ("--method", "nocco", "--epsilon", "1e-2"),
        ("--task", "classification", "--x-width", "median", "--tol", "1e-4"),
        ("--alpha", "0.5", "--n-jobs", "1", "--neighbors", "0"),
    ],
)
def test_options_reach_the_selection(table, arguments):
    document = json.loads(select(table, "--json", *arguments).stdout)
    assert document["features"][0]["name"] == CAUSAL
    names = {"nhsic": "normalised HSIC Lasso", "nocco": "NOCCO Lasso"}
    assert document["method"] == names.get(arguments[1], "HSIC Lasso")


def test_a_real_target_may_be_ranked(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    file = tmp_path / "t.npz"
    np.savez(file, X=X, y=np.exp(3 * X[:, 1]))
    document = []
    for transform in ("none", "rank"):
        options = ("--y-transform", transform, "--y-width", "median", "-k", 1, "--json")
        result = run(file, "-t", "y", *options)
        document.append(json.loads(result.stdout))
    assert [d["task"] for d in document] == ["regression", "regression"]
    assert document[0]["alpha"] != document[1]["alpha"]


def test_alpha_alone_sets_no_number(table):
    result = run(table, "-t", "label", "--drop", "sample", "--alpha", "1e9")
    assert result.exit_code == 0
    assert "0 features selected" in result.stdout


def test_names_are_printed_as_they_are(tmp_path, rng):
    file = tmp_path / "t.npz"
    X = rng.standard_normal((30, 2))
    np.savez(file, X=X, y=X[:, 0], feature_names=["[bold]a[/bold]", "b"])
    assert "[bold]a[/bold]" in run(file, "-t", "y", "-k", 1).stdout


def test_warnings_are_one_line_each(tmp_path, rng):
    X = rng.standard_normal((30, 3))
    X[:, 1] = 1.0
    file = tmp_path / "t.npz"
    np.savez(file, X=X, y=X[:, 0])
    result = run(file, "-t", "y", "-k", 3)
    assert result.exit_code == 0
    constant, fewer = result.stderr.splitlines()
    assert constant == "Warning: 1 of 3 columns do not vary and get weight 0: x1"
    assert fewer.startswith("Warning: ")
    assert "of 3 asked for" in fewer


def test_progress_is_for_terminals_only(table):
    options = {"FORCE_COLOR": "1"}
    arguments = (table, "-t", "label", "--drop", "sample", "-k", 2)
    assert "Relating features to the target" in run(*arguments, **options).stderr
    assert run(*arguments).stderr == ""
    for flag in ("--quiet", "--json"):
        assert run(*arguments, flag, **options).stderr == ""


class TestErrors:
    def fail(self, *arguments, code=2):
        result = run(*arguments)
        assert result.exit_code == code
        assert "Traceback" not in result.output
        assert result.stdout == ""
        assert "Error: " in result.stderr
        return result.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("-t", "lable"), "did you mean 'label'?"),
            (("-t", "label", "--drop", "samples"), "did you mean 'sample'?"),
            (("-t", "label", "--drop", "sample", "-k", "9"), "greater than n_features=8"),
            (("-t", "label", "--drop", "sample", "--task", "regression"), "needs a numeric y"),
            (("-t", "label", "--epsilon", "0.1"), "no meaning for --method hsic"),
            (("-t", "label", "-k", "0"), "0 is not in the range x>=1"),
            (("-t", "label", "--x-width", "wide"), "neither a positive number nor 'median'"),
            (("-t", "label", "--y-width", "0"), "neither a positive number nor 'median'"),
            (("-t", "label", "--n-jobs", "0"), "0 threads can do no work"),
            ((), "Missing option '--target': name the column to explain, or give --survival"),
        ],
    )
    def test_wrong_options_end_in_a_sentence(self, table, tmp_path, arguments, message):
        out = tmp_path / "result.csv"
        assert message in self.fail(table, *arguments, "--out", out)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]

    def test_a_missing_file(self, tmp_path):
        message = self.fail(tmp_path / "no.csv", "-t", "y")
        assert message.startswith("Error: ")
        assert "no.csv does not exist" in message

    @pytest.mark.parametrize(
        ("option", "name", "message"),
        [
            ("--out", "result.xlsx", "use one of .csv, .tsv, .json"),
            ("--plot", "figure.gif", "use one of .png, .svg, .pdf"),
            ("--out", "no/result.csv", "which does not exist: create it first"),
            ("--plot", "no/figure.png", "which does not exist: create it first"),
            ("--out", "folder.csv", "is a folder"),
            ("--out", "table.csv", "would overwrite it"),
        ],
    )
    def test_outputs_are_checked_before_any_work(
        self, table, tmp_path, monkeypatch, option, name, message
    ):
        (tmp_path / "folder.csv").mkdir()
        before = table.read_bytes()
        monkeypatch.setattr("hsiclasso.data.files.read_table", None)
        assert message in self.fail(table, "-t", "label", option, tmp_path / name)
        assert table.read_bytes() == before

    def test_a_folder_that_cannot_be_written_to(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
        message = self.fail(table, "-t", "label", "--out", tmp_path / "result.csv")
        assert "cannot be written to" in message

    def test_a_write_that_fails(self, table, tmp_path, monkeypatch):
        def fail(self, target):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pathlib.Path.replace", fail)
        out = tmp_path / "result.csv"
        message = self.fail(table, "-t", "label", "--drop", "sample", "--out", out)
        assert "No space left on device" in message
        assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]

    def test_a_missing_extra(self, table, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        message = self.fail(table, "-t", "label", "--plot", tmp_path / "figure.png")
        assert "pip install 'hsiclasso[plots]'" in message

    def test_an_interruption_writes_nothing(self, table, tmp_path, monkeypatch):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("hsiclasso.selectors.select", interrupt)
        files = ("--out", tmp_path / "result.csv", "--plot", tmp_path / "figure.png")
        result = run(table, "-t", "label", "--drop", "sample", *files)
        assert result.exit_code == 130
        assert result.stderr == "Interrupted\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]


def chosen(file, *arguments):
    """Return the result of a selection as a dictionary."""
    result = run(file, "-t", "label", "--drop", "sample", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def pathways(tmp_path):
    """Return a file of groups: pairs of genes, but for the last two."""
    file = tmp_path / "pathways.csv"
    pairs = "".join(f"gene {j},pathway {j // 2}\n" for j in range(6))
    file.write_text("gene,pathway\n" + pairs, encoding="utf-8")
    return file


class TestWhatIsSaidAboutFeatures:
    def test_keep_and_exclude(self, table):
        options = ("--keep", "gene 0", "--keep", "gene 6", "--exclude", CAUSAL, "-k", 4)
        document = chosen(table, *options)
        origin = {feature["name"]: feature["origin"] for feature in document["features"]}
        assert len(origin) == 4
        assert origin["gene 0"] == origin["gene 6"] == "kept"
        assert CAUSAL not in origin
        assert list(origin.values()).count("path") == 2

    def test_groups(self, table, pathways):
        document = chosen(table, "--groups", pathways, "--n-groups", 2)
        first, _ = document["groups"]
        assert first["label"] == "pathway 1"
        assert first["size"] == 2
        assert CAUSAL in first["features"]
        labels = {feature["name"]: feature["group"] for feature in document["features"]}
        assert labels[CAUSAL] == "pathway 1"
        assert (document["penalty"], document["solver"]) == ("group lasso", "cd")

    def test_genes_without_a_pathway_are_groups_of_their_own(self, table, pathways):
        document = chosen(table, "--groups", pathways, "--alpha-ratio", "0")
        labels = {feature["name"]: feature["group"] for feature in document["features"]}
        alone = [label for name, label in labels.items() if name in ("gene 6", "gene 7")]
        assert alone
        assert not any(label.startswith("pathway") for label in alone)

    def test_l1_ratio(self, table, pathways):
        document = chosen(table, "--groups", pathways, "--n-groups", 1, "--l1-ratio", 0.9)
        assert document["penalty"] == "sparse group lasso"
        assert [feature["name"] for feature in document["features"]] == [CAUSAL]

    def test_ridge(self, table):
        plain, ridged = (chosen(table, "-k", 2, "--ridge", ridge) for ridge in (0, 0.1))
        assert plain["penalty"] == "lasso"
        assert ridged["penalty"].startswith("lasso with ridge ")
        names = [{feature["name"] for feature in d["features"]} for d in (plain, ridged)]
        assert "gene 5" not in names[0]  # a copy of the gene that matters
        assert names[1] == {CAUSAL, "gene 5"}

    def test_alpha_ratio(self, table):
        top, half = (chosen(table, "--alpha-ratio", share) for share in (1, 0.5))
        assert half["alpha"] == pytest.approx(0.5 * top["alpha"])
        assert top["features"] == []
        assert half["status"] == "ALPHA"
        assert half["n_requested"] is None

    @pytest.mark.parametrize("criterion", ["aic", "bic"])
    def test_criterion(self, table, criterion):
        document = chosen(table, "--criterion", criterion)
        assert document["features"][0]["name"] == CAUSAL
        assert len(document["features"]) < 8
        assert document["n_requested"] is None

    @pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
    def test_solver(self, table, solver):
        document = chosen(table, "-k", 3, "--solver", solver)
        assert document["solver"] == solver
        expected = {feature["name"] for feature in chosen(table, "-k", 3)["features"]}
        assert {feature["name"] for feature in document["features"]} == expected

    def test_origin_and_group_in_the_written_table(self, table, pathways, tmp_path):
        out = tmp_path / "result.csv"
        select(table, "--groups", pathways, "--keep", "gene 7", "--out", out)
        with out.open(newline="", encoding="utf-8") as stream:
            rows = {row["name"]: row for row in csv.DictReader(stream)}
        assert rows["gene 7"]["origin"] == "kept"
        assert rows[CAUSAL]["group"] == "pathway 1"

    def test_the_table_shows_groups_and_origins_where_there_are_any(self, table, pathways):
        plain = select(table).stdout
        assert "origin" not in plain
        assert "group" not in plain
        kept = select(table, "--keep", "gene 7").stdout
        assert "origin" in kept
        assert any("gene 7" in line and " kept " in line for line in kept.splitlines())
        grouped = select(table, "--groups", pathways).stdout
        assert any(CAUSAL in line and "pathway 1" in line for line in grouped.splitlines())

    def test_a_warning_where_the_number_is_filled_up(self, tmp_path, rng):
        x = rng.standard_normal(40)
        file = tmp_path / "t.npz"
        np.savez(file, X=np.column_stack([x, 2 * x, -x]), y=x)
        result = run(file, "-t", "y", "-k", 3)
        assert result.exit_code == 0
        assert "The last 2 have weight 0" in result.stderr
        assert len(result.stderr.splitlines()) == 1


class TestErrorsOfWhatIsSaid:
    fail = TestErrors.fail
    OPTIONS = (
        (("--keep", "gene 33"), "did you mean 'gene 3'"),
        (("--exclude", "label"), "exclude has 'label', but there is no such column"),
        (("--keep", "sample"), "keep has 'sample', but there is no such column"),
        (("--keep", "gene 1", "--exclude", "gene 1"), "is both in keep and in exclude"),
        (("--keep", "gene 1", "--keep", "gene 2", "-k", 1), "2 features are to be kept"),
        (("--alpha", 1, "--alpha-ratio", 0.5), "both set the penalty"),
        (("--alpha-ratio", 1.5), "is not in the range 0<=x<=1"),
        (("--criterion", "bic", "--alpha", 1), "leave out alpha"),
        (("--criterion", "mdl"), "'mdl' is not one of 'aic', 'bic'"),
        (("--n-groups", 2), "n_groups_to_select=2 needs groups"),
        (("--n-groups", 0), "0 is not in the range x>=1"),
        (("--l1-ratio", 0.5), "l1_ratio=0.5 is for groups of features"),
        (("--l1-ratio", 2), "is not in the range 0<=x<=1"),
        (("--ridge", -1), "-1.0 is not in the range x>=0"),
        (("--ridge", "nan"), "ridge=nan"),
        (("--solver", "sgd"), "'sgd' is not one of 'auto', 'homotopy', 'cd', 'dal'"),
    )

    @pytest.mark.parametrize(("arguments", "message"), OPTIONS, ids=str)
    def test_one_line_and_no_output(self, table, arguments, message):
        text = self.fail(table, "-t", "label", "--drop", "sample", *arguments)
        assert message in text.splitlines()[-1]

    @pytest.mark.parametrize(
        ("name", "content", "options", "message"),
        [
            ("no.csv", None, (), "no.csv does not exist"),
            ("g.xlsx", "gene,group\ngene 1,a\n", (), "has the suffix '.xlsx'"),
            ("g.csv", "gene,group\n", (), "names no feature"),
            ("g.csv", "gene,group\nTP53,a\n", (), "groups has 'TP53', but there is no such column"),
            ("g.csv", "gene,group\ngene 1,a\n", ("--n-groups", 9), "there are 8 groups"),
            ("g.csv", "gene,group\ngene 1,a\n", ("--solver", "homotopy"), "not the group lasso"),
        ],
    )
    def test_files_of_groups(self, table, tmp_path, name, content, options, message):
        file = tmp_path / name
        if content is not None:
            file.write_text(content, encoding="utf-8")
        arguments = ("-t", "label", "--drop", "sample", "--groups", file, *options)
        text = self.fail(table, *arguments)
        assert message in text
        assert len(text.splitlines()) == 1
