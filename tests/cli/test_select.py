"""``hsiclasso select``, from the file to the terminal and to files."""

from __future__ import annotations

import csv
import json
import os
import sys

import numpy as np
import pytest

pytest.importorskip("click")
from scipy import sparse

import hsiclasso.data.files
from hsiclasso import HSICLasso
from hsiclasso.data.files import read_table
from hsiclasso.selectors.estimators import with_target_names
from tests.cli.helpers import N, drop, fail, run, select, selector, succeed, write

BASIC = ("-t", "risk", *drop("risk"), "-k", 3)


class TestAgreement:
    """The command finds what the estimator finds that its options stand for."""

    @pytest.mark.parametrize(
        ("arguments", "used", "kind"),
        [
            (("-t", "risk"), ["risk"], "real"),
            (("-t", "far"), ["far"], "classes"),
            (("-t", "grade", "--kind", "ordinal"), ["grade"], "ordinal"),
            (("-t", "visits", "--kind", "counts"), ["visits"], "counts"),
            (("-t", "ill", "-t", "died"), ["ill", "died"], "labels"),
            (("-t", "risk", "-t", "visits", "--outputs", "average"), ["risk", "visits"], "real"),
            (("--survival", "months", "died"), ["months", "died"], "survival"),
            (("-t", "risk", "--weights", "w", "--covariate", "site"), ["risk", "w"], "real"),
            (("-t", "risk", "--kernel", "lab2=laplace", "--method", "nhsic"), ["risk"], "real"),
            (("-t", "risk", "--joint", "p=east,north", "--alpha", "bic"), ["risk"], "real"),
            (("-t", "risk", "--method", "embedding", "--covariate", "site"), ["risk"], "real"),
            (
                ("-t", "far", "--method", "embedding", "--weights", "w", "--no-fill"),
                ["far", "w"],
                "classes",
            ),
        ],
    )
    def test_with_the_estimator(self, table, arguments, used, kind):
        unused = drop(*used)
        weights = "w" if "w" in used else None
        targets = [name for name in used if name != "w"]
        read = read_table(table, targets, drop=unused[1::2], weights=weights)
        expected = selector(*arguments, "-k", 3).fit(read.source, read.y, read.weights).result_
        expected = with_target_names(expected, read.target_names)
        document = select(table, *arguments, *unused, "-k", 3)
        assert document == json.loads(expected.to_json())
        assert document["method"]["target"] == kind

    @pytest.mark.parametrize("form", ["--affinity", "--graph"])
    def test_a_matrix_between_samples(self, tmp_path, table, columns, form):
        distance = np.abs(columns["risk"][:, None] - columns["risk"])
        matrix = np.exp(-(distance**2)) if form == "--affinity" else (distance < 0.2) - np.eye(N)
        np.save(tmp_path / "dense.npy", matrix)
        sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_array(matrix))
        source = read_table(table, (), drop=drop()[1::2]).source
        for name, y in {"dense.npy": matrix, "sparse.npz": sparse.csr_array(matrix)}.items():
            document = select(table, form, tmp_path / name, *drop(), "-k", 2)
            expected = selector(form, tmp_path / name, "-k", 2).fit(source, y).result_
            assert document == json.loads(expected.to_json())
            assert document["method"]["target"] == form[2:]

    @pytest.mark.parametrize("suffix", [".tsv", ".npz", ".parquet"])
    def test_of_formats(self, tmp_path, columns, suffix):
        numbers = {name: columns[name] for name in ("lab0", "lab1", "lab2", "lab3")}
        stored = {**numbers, "far": columns["far"]}
        file = tmp_path / f"other{suffix}"
        if suffix == ".tsv":
            write(file, stored, "\t")
        elif suffix == ".npz":
            X = np.column_stack(list(numbers.values()))
            np.savez(file, X=X, far=columns["far"], feature_names=list(numbers))
        else:
            pa = pytest.importorskip("pyarrow")
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pa.table(stored), file)
        expected = succeed("select", write(tmp_path / "t.csv", stored), "-t", "far", "-k", 3)
        assert succeed("select", file, "-t", "far", "-k", 3).stdout == expected.stdout

    def test_labels_that_look_like_numbers(self, tmp_path, columns):
        file = write(tmp_path / "t.csv", columns, risk={0: "low"})
        options = ("-t", "risk", *drop("risk"), "-k", 2)
        assert "column 'risk' holds 'low' in data row 1" in fail("select", file, *options)
        for more in (("--kind", "classes"), ("--category", "risk")):
            assert select(file, *options, *more)["method"]["target"] == "classes"

    def test_an_ordered_category_is_ordinal(self, tmp_path, columns):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        grade = pd.Categorical.from_codes(columns["grade"], ["mild", "fair", "bad"], ordered=True)
        frame = pd.DataFrame({name: columns[name] for name in ("lab0", "lab1", "lab2")})
        frame.assign(grade=grade).to_parquet(tmp_path / "t.parquet")
        document = select(tmp_path / "t.parquet", "-t", "grade", "-k", 2)
        expected = HSICLasso(2).fit(frame, pd.Series(grade, name="grade")).result_
        assert document == json.loads(expected.to_json())
        assert document["method"]["target"] == "ordinal"
        asked = select(tmp_path / "t.parquet", "-t", "grade", "--kind", "classes")
        assert asked["method"]["target"] == "classes"


class TestReading:
    def test_the_file_is_read_once_and_the_table_by_the_estimator_alone(self, table, monkeypatch):
        blocks, tables = [], []

        class Counting(hsiclasso.data.files.LabelledSource):
            def block(self, columns):
                blocks.append(columns)
                return super().block(columns)

        def count(*arguments, **options):
            tables.append(read_table(*arguments, **options))
            blocks.clear()  # what is not a feature is looked for while a file is read
            return tables[-1]

        monkeypatch.setattr(hsiclasso.data.files, "LabelledSource", Counting)
        monkeypatch.setattr(hsiclasso.data.files, "read_table", count)
        arguments = ("-t", "risk", "--neighbors", 0, "-k", 3, "--n-jobs", 1)
        succeed("select", table, *arguments, *drop("risk"))
        (read,) = tables
        by_command = len(blocks)
        selector(*arguments).fit(read.source, read.y)
        assert len(blocks) == 2 * by_command

    def test_missing_cells_need_a_word(self, tmp_path, columns):
        gaps = write(
            tmp_path / "gaps.csv",
            columns,
            lab2=dict.fromkeys(range(30), "NA"),
            lab1=dict.fromkeys(range(60), ""),
            risk={1: "", 2: "NA"},
        )
        options = ("-t", "risk", *drop("risk"), "-k", 2)
        message = fail("select", gaps, *options)
        assert "Input y contains NaN or None, first in row 1 (2 in all)" in message
        assert message.endswith("or say --missing-target drop.")
        options = (*options, "--missing-target", "drop", "--exclude", "lab3")
        message = fail("select", gaps, *options)
        assert "NaN in column 'lab" in message
        assert message.endswith("or say --missing ignore.")
        result = succeed("select", gaps, *options, "--missing", "ignore")
        assert "2 samples without a target or of weight 0 dropped." in result.stdout
        assert "observed on fewer than 44 samples" in result.stderr
        line = next(line for line in result.stdout.splitlines() if " lab2 " in line)
        assert " 60 " in line

    def test_warnings_are_one_line_each(self, tmp_path, columns, rng):
        file = write(tmp_path / "t.csv", columns | {"same": np.ones(N)})
        unused = [part for part in drop("risk") if part != "patient"][1:]
        result = succeed("select", file, "-t", "risk", *unused, "-k", 1)
        identifier, constant = result.stderr.splitlines()
        assert identifier.startswith("Warning: column 'patient' has a different value in almost")
        assert constant == "Warning: 1 of 11 columns do not vary and get weight 0: same"


class TestPrinting:
    def test_the_table_shows_features_summary_and_certificate(self, table):
        out = succeed("select", table, *BASIC).stdout
        assert "smoker" in out
        assert "HSIC Lasso, target: real, 90 samples x 9 columns. 3 features selected" in out
        assert "Certificate: KKT residual " in out
        assert " of 9 columns touched" in out
        quiet = succeed("select", table, *BASIC, "-q").stdout
        assert out.startswith(quiet)
        assert "Certificate" not in quiet

    def test_what_is_special_is_said(self, tmp_path, table):
        groups = tmp_path / "groups.csv"
        groups.write_text("f,g\nlab2,blood\nlab3,blood\n", encoding="utf-8")
        options = ("-t", "risk", *drop("risk", "w"), "--weights", "w", "--covariate", "site")
        grouped = succeed("select", table, *options, "--groups", groups, "--keep", "east").stdout
        assert any(" lab2 " in line and " blood " in line for line in grouped.splitlines())
        assert any(" east " in line and " kept " in line for line in grouped.splitlines())
        assert "Samples are weighted. Removed from features and target: " in grouped
        assert " functions of site." in grouped
        subtracted = succeed(
            "select", table, *options, "--covariate-method", "subtract", "--no-fill"
        ).stdout
        assert "Subtracted from the target's kernel matrix: that of site." in subtracted
        assert " origin " not in subtracted
        assert " group " not in subtracted

    def test_names_are_printed_as_they_are(self, tmp_path, rng):
        X = rng.standard_normal((30, 2))
        np.savez(tmp_path / "t.npz", X=X, y=X[:, 0], feature_names=["[bold]a[/bold]", "b"])
        out = succeed("select", tmp_path / "t.npz", "-t", "y", "-k", 1).stdout
        assert "[bold]a[/bold]" in out

    def test_nothing_selected(self, table):
        out = succeed("select", table, "-t", "risk", *drop("risk"), "--alpha", "1e9").stdout
        assert "0 features selected" in out

    def test_progress_is_for_terminals_only(self, table):
        shown = succeed("select", table, *BASIC, FORCE_COLOR="1").stderr
        assert "Relating features to the target" in shown
        assert succeed("select", table, *BASIC).stderr == ""
        for flag in ("--quiet", "--json"):
            assert succeed("select", table, *BASIC, flag, FORCE_COLOR="1").stderr == ""


def test_pairs_are_listed_by_both_names(tmp_path, rng):
    lab = rng.standard_normal((120, 6)).round(3)
    columns = {f"lab{j}": lab[:, j] for j in range(6)} | {"y": lab[:, 1] * lab[:, 4]}
    table = write(tmp_path / "pairs.csv", columns)
    done = succeed("select", table, "-t", "y", "-k", 1, "--interactions", "all")
    assert "lab1 & lab4" in done.stdout
    assert "15 pairs were scanned" in done.output
    assert " of 6 columns and 15 interactions touched" in done.output
    found = json.loads(succeed("select", table, "-t", "y", "-k", 1, "--json", "--interactions",
                               "lab4,lab1").stdout)  # fmt: skip
    assert found["features"][0]["columns"] == ["lab1", "lab4"]
    assert found["interactions"]["n_offered"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--interactions", "any"], "choose 'all' or 'selected'"),
        (["--interactions", "lab0,lab9"], "no such column"),
        (["--interactions", "lab0,lab1", "--interactions", "all"], "COLUMN,COLUMN"),
        (["--hierarchy", "weak"], "--hierarchy weak has no meaning without --interactions"),
        (["--n-interactions", "2"], "--n-interactions 2 has no meaning"),
        (["--interactions", "all", "--fdr", "0.1"], "tests single features"),
    ],
)
def test_pairs_that_cannot_be(table, options, words):
    assert words in fail("select", table, "-t", "risk", *drop("risk"), *options)


class TestFiles:
    def test_json(self, tmp_path, table):
        out = tmp_path / "result.json"
        result = succeed("select", table, *BASIC, "--json", "--out", out)
        document = json.loads(result.stdout)
        assert result.stderr == ""
        assert json.loads(out.read_text(encoding="utf-8")) == document
        assert len(document["features"]) == 3
        for feature in document["features"]:
            assert {"name", "weight", "relevance", "neighbours", "columns"} <= set(feature)
        assert document["solution"]["certificate"]["kkt_residual"] < 1e-10

    @pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".TSV", "\t")])
    def test_separated_text(self, tmp_path, table, suffix, delimiter):
        out = tmp_path / f"result{suffix}"
        options = (*BASIC, "--neighbors", 3)
        assert f"Written: {out}" in succeed("select", table, *options, "--out", out).stdout
        with out.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream, delimiter=delimiter))
        assert [row["rank"] for row in rows] == ["1", "2", "3"]
        assert float(rows[0]["weight"]) > float(rows[1]["weight"])
        assert rows[0]["neighbours"].count(";") == 2

    def test_plot(self, tmp_path, table):
        pytest.importorskip("matplotlib")
        plot = tmp_path / "figure.svg"
        assert f"Written: {plot}" in succeed("select", table, *BASIC, "--plot", plot).stdout
        assert "lab2" in plot.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("option", "name", "message"),
        [
            ("--out", "result.ods", "use one of .csv, .tsv, .json, .parquet, .xlsx"),
            ("--plot", "figure.gif", "use one of .png, .svg, .pdf"),
            ("--plot", "no/figure.png", "which does not exist: create it first"),
            ("--out", "folder.csv", "is a folder"),
            ("--out", "cohort.csv", "would overwrite it"),
        ],
    )
    def test_are_checked_before_reading(self, table, tmp_path, monkeypatch, option, name, message):
        (tmp_path / "folder.csv").mkdir()
        before = table.read_bytes()
        monkeypatch.setattr("hsiclasso.data.files.read_table", None)
        assert message in fail("select", table, "-t", "risk", option, tmp_path / name)
        assert table.read_bytes() == before

    def test_a_folder_that_cannot_be_written_to(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
        message = fail("select", table, "-t", "risk", "--out", tmp_path / "result.csv")
        assert "cannot be written to" in message

    def test_a_write_that_fails(self, table, tmp_path, monkeypatch):
        def full(self, target):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pathlib.Path.replace", full)
        message = fail("select", table, *BASIC, "--out", tmp_path / "result.csv")
        assert "No space left on device" in message
        assert [path.name for path in tmp_path.iterdir()] == ["cohort.csv"]

    def test_a_missing_extra(self, table, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        message = fail("select", table, "-t", "risk", "--plot", tmp_path / "figure.png")
        assert "pip install 'hsiclasso[plots]'" in message

    def test_an_interruption_writes_nothing(self, table, tmp_path, monkeypatch):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(HSICLasso, "fit", interrupt)
        result = run("select", table, *BASIC, "--out", tmp_path / "result.csv")
        assert result.exit_code == 130
        assert result.stderr == "Interrupted\n"
        assert [path.name for path in tmp_path.iterdir()] == ["cohort.csv"]


def test_a_target_in_a_file_of_its_own(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 6))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X[:, 4] ** 2)
    (tmp_path / "y.txt").write_text("".join(f"{value}\n" for value in X[:, 4] ** 2))
    for name in ("y.npy", "y.txt"):
        found = select(tmp_path / "X.npy", "--target-file", tmp_path / name, "-k", 1)
        assert [feature["name"] for feature in found["features"]] == ["x4"]
    np.save(tmp_path / "y.npy", np.ones(7))
    assert "but the table has 60 rows" in fail(
        "select", tmp_path / "X.npy", "--target-file", tmp_path / "y.npy"
    )
    assert "--target and --target-file both say what to explain" in fail(
        "select", tmp_path / "X.npy", "-t", "x1", "--target-file", tmp_path / "y.npy"
    )


def test_an_array_within_a_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = np.random.default_rng(0).standard_normal((60, 6))
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["a/X"], file["b/X"], file["b/y"] = X, X, X[:, 2] ** 2
    found = select(f"{tmp_path / 't.h5'}:/b/X", "-t", "y", "-k", 1)
    assert [feature["name"] for feature in found["features"]] == ["x2"]


class TestInput:
    """Text as it is found, genes in rows, and files that describe samples."""

    @pytest.fixture
    def genes(self, tmp_path):
        rng = np.random.default_rng(3)
        X = rng.standard_normal((40, 6)).round(3)
        X[:, 1] = np.abs(X[:, 1])
        return X, tmp_path

    def expected(self, X, y, folder):
        columns = {f"g{j}": X[:, j] for j in range(6)} | {"risk": y}
        found = select(write(folder / "plain.csv", columns), "-t", "risk", "-k", 2)
        return [(feature["name"], feature["weight"]) for feature in found["features"]]

    def check(self, found, expected):
        assert [feature["name"] for feature in found["features"]] == [name for name, _ in expected]
        weights = [feature["weight"] for feature in found["features"]]
        np.testing.assert_allclose(weights, [weight for _, weight in expected], rtol=1e-9)

    def test_a_european_table(self, genes):
        X, folder = genes
        y = (X[:, 1] ** 2).round(4)
        columns = {f"g{j}": X[:, j] for j in range(6)} | {"risk": y, "größe": ["?"] * 40}
        text = write(folder / "t.csv", columns, ";").read_text(encoding="utf-8")
        text = "% made by hand\n" + text.replace(".", ",").replace("?", "-7")
        (folder / "t.csv").write_text(text, encoding="latin-1")
        options = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--comment", "%")
        drop = ("--drop", "größe", "--na", "-7", "--na", "?")
        found = select(folder / "t.csv", "-t", "risk", "-k", 2, *options, *drop)
        self.check(found, self.expected(X, y, folder))

    def test_genes_in_rows_and_phenotypes(self, genes):
        X, folder = genes
        y = (X[:, 1] ** 2).round(4)
        ids = [f"s{i}" for i in range(40)]
        rows = {"gene": [f"g{j}" for j in range(6)]} | dict(zip(ids, X.tolist(), strict=True))
        file = write(folder / "t.tsv", rows, "\t")
        people = write(folder / "p.csv", {"sample": ids[::-1], "risk": y[::-1], "age": range(40)})
        options = ("--transpose", "--phenotype", people, "-t", "risk", "-k", 2)
        self.check(select(file, *options), self.expected(X, y, folder))
        shown = succeed("select", file, *options, "--covariate", "age", "-q")
        assert "g1" in shown.stdout
        assert "--transpose" in fail("select", file, *options[1:])
        assert "would overwrite it" in fail("select", file, *options, "--out", people)

    def test_warnings_say_who_does_not_match(self, genes):
        X, folder = genes
        ids = [f"s{i}" for i in range(40)]
        columns = {"tube": ids} | {f"g{j}": X[:, j] for j in range(6)}
        file = write(folder / "t.csv", columns)
        people = {"who": [*ids[2:], "s99"], "risk": np.arange(39)}
        people = write(folder / "p.csv", people)
        options = ("--phenotype", people, "-t", "risk", "-k", 1)
        shown = succeed("select", file, *options, "--id", "tube")
        assert "samples left out (2): 's0', 's1'" in shown.stderr
        assert "rows without a sample (1): 's99'" in shown.stderr
        message = fail("select", file, *options)
        assert "of the table with --id, and that of the file IID, or put it first," in message
        succeed("compare", file, *options, "--id", "tube", "--methods", "lasso")

    def test_repeated_names(self, genes):
        X, folder = genes
        names = ["a", "b", "a", "c", "d", "b"]
        lines = [",".join([*names, "y"])] + [
            ",".join(map(str, [*r, r[1] ** 2])) for r in X.tolist()
        ]
        file = folder / "t.csv"
        file.write_text("\n".join(lines) + "\n")
        message = fail("select", file, "-t", "y")
        assert "with --drop 'a', or read them" in message
        assert (
            "with --duplicates unique, or as one feature, their mean, with --duplicates mean"
            in (message)
        )
        one = select(file, "-t", "y", "-k", 1, "--duplicates", "unique")
        assert one["data"]["n_columns"] == 6
        one = select(file, "-t", "y", "-k", 1, "--duplicates", "mean")
        assert one["data"]["n_columns"] == 4

    def test_messages_name_options(self, genes):
        _, folder = genes
        file = folder / "t.csv"
        file.write_bytes("größe,y\n1,2\n".encode("latin-1"))
        message = fail("select", file, "-t", "y")
        assert message.endswith("as with --encoding 'latin-1', or save it as UTF-8.")
        assert "--sep ab separates no columns" in fail("select", file, "-t", "y", "--sep", "ab")


class TestReport:
    def test_says_what_was_asked(self, tmp_path, table):
        file = tmp_path / "report.html"
        out = succeed("select", table, *BASIC, "--report", file)
        assert f"Written: {file}" in out.stdout
        text = file.read_text(encoding="utf-8")
        asked = text.split('id="asked"')[1]
        assert f"hsiclasso select {table} -t risk" in asked
        assert "risk (real)" in asked
        found = select(table, *BASIC, "--report", file)
        assert all(f">{feature['name']}<" in text for feature in found["features"])

    @pytest.mark.parametrize(
        "more",
        [
            ("--survival", "months", "died", *drop("months", "died")),
            ("-t", "risk", *drop("risk", "w"), "--weights", "w"),
            ("-t", "far", *drop("far"), "--fdr", 0.2),
            ("-t", "far", *drop("far"), "--stability", 4, "-k", 2),
            ("-t", "risk", *drop("risk"), "--joint", "place=east,north", "--keep", "place"),
        ],
    )
    def test_with_other_options(self, tmp_path, table, more):
        file = tmp_path / "report.html"
        succeed("select", table, *more, "--report", file)
        text = file.read_text(encoding="utf-8")
        assert "<figure" in text
        assert ("How sure" in text) == ("--fdr" in more or "--stability" in more)
        assert ("<dt>Seed</dt><dd>0</dd>" in text) == ("How sure" in text)

    def test_of_an_ordered_category(self, tmp_path, columns):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        grade = pd.Categorical.from_codes(columns["grade"], ["mild", "fair", "bad"], ordered=True)
        frame = pd.DataFrame({name: columns[name] for name in ("lab0", "lab1", "lab2")})
        frame.assign(grade=grade).to_parquet(tmp_path / "t.parquet")
        file = tmp_path / "report.html"
        succeed("select", tmp_path / "t.parquet", "-t", "grade", "-k", 2, "--report", file)
        assert "grade (ordinal)" in file.read_text(encoding="utf-8")

    def test_is_refused_before_the_work(self, tmp_path):
        missing = tmp_path / "no.csv"
        for name, words in (("no/x.html", "does not exist"), ("x.txt", "one of .html, .htm")):
            file = tmp_path / name
            assert words in fail("select", missing, "-t", "y", "--report", file)
            assert f"--report {file}" in fail("select", missing, "-t", "y", "--report", file)
