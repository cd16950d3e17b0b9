"""``hsiclasso select`` on every kind of target and column."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("click")
from click.testing import CliRunner
from scipy import sparse

from hsiclasso import Diffusion, HSICLasso, Laplace, RegularisedLaplacian
from hsiclasso.cli.app import app

N = 90
NO_TERMINAL = {"COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}


@pytest.fixture(scope="module")
def columns():
    """Return a cohort: four measurements, sex, smoking, site, place, and targets of each sort."""
    rng = np.random.default_rng(1)
    lab = rng.standard_normal((N, 4)).round(3)
    site = rng.integers(1, 4, N)
    smoker = rng.random(N) < 0.5
    risk = np.abs(lab[:, 2]) + smoker
    time = rng.exponential(np.exp(-2 * risk)).round(4) + 0.001
    return {
        "patient": [f"P{i}" for i in range(N)],
        **{f"lab{j}": lab[:, j] for j in range(4)},
        "sex": rng.choice(["f", "m"], N),
        "smoker": np.where(smoker, "true", "false"),
        "site": site,
        "east": rng.random(N).round(3),
        "north": rng.random(N).round(3),
        "risk": risk.round(3),
        "grade": np.digitize(risk, [0.7, 1.4]),
        "visits": rng.poisson(np.exp(risk)),
        "ill": (risk > 1).astype(int),
        "months": time,
        "died": (rng.random(N) < 0.7).astype(int),
        "w": rng.integers(0, 3, N),
    }


TARGETS = ("risk", "grade", "visits", "ill", "months", "died", "w")
FEATURES = ("lab0", "lab1", "lab2", "lab3", "sex", "smoker", "site", "east", "north")


def write(file, columns, **changes):
    table = {name: list(values) for name, values in columns.items()}
    for name, cells in changes.items():
        for row, cell in cells.items():
            table[name][row] = cell
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return file


@pytest.fixture
def cohort(tmp_path, columns):
    return write(tmp_path / "cohort.csv", columns)


def drop(*used):
    """Options that leave out what is neither a feature nor used."""
    return [part for name in ("patient", *TARGETS) if name not in used for part in ("--drop", name)]


def run(*arguments, **env):
    return CliRunner(env=NO_TERMINAL | env).invoke(app, ["select", *map(str, arguments)])


def text(file, *arguments):
    result = run(file, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def chosen(file, *arguments):
    return json.loads(text(file, "--json", *arguments))


def frame(columns):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({name: columns[name] for name in FEATURES})
    return table.assign(smoker=table["smoker"] == "true")


def agrees(document, selector):
    """Compare a result with that of the estimator."""
    expected = selector.result_.to_dict()
    assert [f["name"] for f in document["features"]] == [f["name"] for f in expected["features"]]
    weights = [[f["weight"] for f in d["features"]] for d in (document, expected)]
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-9)
    assert document["task"] == expected["task"]
    assert document["n_samples"] == expected["n_samples"]


class TestTargets:
    @pytest.mark.parametrize(
        ("target", "options", "settings", "task"),
        [
            ("risk", (), {}, "regression"),
            ("risk", ("--y-kernel", "laplace"), {"y_kernel": "laplace"}, "regression"),
            ("risk", ("--y-kernel", "linear"), {"y_kernel": "linear"}, "regression"),
            ("risk", ("--y-kernel", "polynomial"), {"y_kernel": "polynomial"}, "regression"),
            ("risk", ("--y-width", "0.5,2"), {"y_width": (0.5, 2.0)}, "regression"),
            ("grade", (), {}, "classification"),
            ("grade", ("--y-kernel", "plain_delta"), {"y_kernel": "plain_delta"}, "classification"),
            ("grade", ("--task", "ordinal"), {"task": "ordinal"}, "ordinal"),
            ("visits", ("--task", "counts"), {"task": "counts"}, "counts"),
        ],
    )
    def test_of_one_column(self, cohort, columns, target, options, settings, task):
        document = chosen(cohort, "-t", target, *drop(target), "-k", 3, *options)
        agrees(document, HSICLasso(3, **settings).fit(frame(columns), columns[target]))
        assert document["task"] == task

    @pytest.mark.parametrize("multioutput", ["auto", "joint", "average"])
    def test_several_outputs(self, cohort, columns, multioutput):
        options = ("-t", "risk", "-t", "visits", "--multioutput", multioutput)
        document = chosen(cohort, *options, *drop("risk", "visits"), "-k", 3)
        y = np.column_stack([columns["risk"], columns["visits"]])
        agrees(document, HSICLasso(3, multioutput=multioutput).fit(frame(columns), y))

    def test_labels(self, cohort, columns):
        document = chosen(cohort, "-t", "ill", "-t", "died", *drop("ill", "died"), "-k", 3)
        y = np.column_stack([columns["ill"], columns["died"]])
        agrees(document, HSICLasso(3).fit(frame(columns), y))
        assert document["task"] == "multilabel"

    def test_words_and_numbers(self, cohort, columns):
        options = ("-t", "sex", "-t", "risk", *drop("risk"), "-k", 2)
        assert chosen(cohort, *options)["task"] == "classification"

    def test_survival(self, cohort, columns):
        document = chosen(cohort, "--survival", "months", "died", *drop("months", "died"), "-k", 3)
        y = np.column_stack([columns["months"], columns["died"]])
        agrees(document, HSICLasso(3, task="survival").fit(frame(columns), y))
        same = ("-t", "months", "-t", "died", "--task", "survival", *drop("months", "died"))
        assert chosen(cohort, *same, "-k", 3) == document

    def test_truth_values_as_events(self, tmp_path, cohort, columns):
        options = ("--survival", "months", "died", *drop("months", "died"), "-k", 3)
        words = dict(enumerate("true" if event else "false" for event in columns["died"]))
        assert chosen(write(tmp_path / "t.csv", columns, died=words), *options) == chosen(
            cohort, *options
        )

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
    def test_affinity(self, tmp_path, cohort, columns, suffix):
        K = np.exp(-((columns["risk"][:, None] - columns["risk"]) ** 2))
        file = tmp_path / f"affinity{suffix}"
        if suffix == ".npy":
            np.save(file, K)
        elif suffix == ".npz":
            np.savez(file, K)
        else:
            np.savetxt(file, K, delimiter=",", fmt="%.17g")
        document = chosen(cohort, "--affinity", file, *drop(), "-k", 3)
        agrees(document, HSICLasso(3, y_kernel="precomputed").fit(frame(columns), K))
        assert document["task"] == "structured"

    @pytest.mark.parametrize(
        ("options", "kernel"),
        [
            ((), Diffusion(1.0)),
            (("--beta", 2), Diffusion(2.0)),
            (("--graph-kernel", "diffusion"), Diffusion(1.0)),
            (
                ("--graph-kernel", "regularised_laplacian", "--beta", 0.5),
                RegularisedLaplacian(0.5),
            ),
        ],
    )
    def test_graph(self, tmp_path, cohort, columns, options, kernel):
        near = np.abs(columns["risk"][:, None] - columns["risk"]) < 0.2
        links = sparse.csr_array((near & ~np.eye(N, dtype=bool)).astype(float))
        sparse.save_npz(tmp_path / "links.npz", links)
        document = chosen(cohort, "--graph", tmp_path / "links.npz", *options, *drop(), "-k", 3)
        agrees(document, HSICLasso(3, y_kernel=kernel).fit(frame(columns), links))

    def test_numbers_as_classes(self, tmp_path, columns):
        risk = {0: "low"}
        file = write(tmp_path / "t.csv", columns, risk=risk)
        options = ("-t", "risk", *drop("risk"), "-k", 2)
        assert "column 'risk' holds 'low' in data row 1" in run(file, *options).stderr
        for more in (("--task", "classification"), ("--category", "risk")):
            assert chosen(file, *options, *more)["task"] == "classification"

    def test_an_array_of_outputs(self, tmp_path, rng):
        X = rng.standard_normal((40, 3))
        file = tmp_path / "t.npz"
        np.savez(file, X=X, y=np.abs(X[:, :2]))
        for multioutput in ("joint", "average"):
            document = chosen(file, "-t", "y", "-k", 2, "--multioutput", multioutput)
            assert {f["name"] for f in document["features"]} == {"x0", "x1"}

    def test_an_array_of_times_and_events(self, tmp_path, rng):
        X = rng.standard_normal((60, 3))
        y = np.zeros(60, dtype=[("event", bool), ("time", float)])
        y["time"], y["event"] = rng.exponential(np.exp(-2 * X[:, 1])), True
        np.savez(tmp_path / "t.npz", X=X, y=y)
        document = chosen(tmp_path / "t.npz", "-t", "y", "-k", 1)
        assert document["task"] == "survival"
        assert document["features"][0]["name"] == "x1"
        y["time"][3] = np.nan
        np.savez(tmp_path / "t.npz", X=X, y=y)
        assert "no value in data row 4" in run(tmp_path / "t.npz", "-t", "y").stderr

    def test_an_ordered_category(self, tmp_path, columns):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        grade = pd.Categorical.from_codes(columns["grade"], ["mild", "fair", "bad"], ordered=True)
        file = tmp_path / "t.parquet"
        frame(columns).assign(grade=grade).to_parquet(file)
        document = chosen(file, "-t", "grade", "-k", 3)
        agrees(document, HSICLasso(3).fit(frame(columns), pd.Series(grade)))
        assert document["task"] == "ordinal"
        as_classes = chosen(file, "-t", "grade", "-k", 3, "--task", "classification")
        assert as_classes["task"] == "classification"


class TestColumns:
    def test_mixed_kinds_need_nothing_special(self, cohort):
        out = text(cohort, "-t", "risk", *drop("risk"), "-k", 3)
        assert "smoker" in out
        assert "lab2" in out

    @pytest.mark.parametrize(
        ("options", "settings"),
        [
            (("--x-kernel", "auto"), {}),
            (("--x-kernel", "lab2=laplace"), {"x_kernel": {"lab2": "laplace"}}),
            (
                ("--x-kernel", "number=linear", "--x-kernel", "text=delta"),
                {"x_kernel": {"number": "linear", "text": "delta"}},
            ),
            (("--x-width", "0.5,1,2"), {"x_width": (0.5, 1.0, 2.0)}),
            (("--joint", "place=east,north"), {"joint": {"place": ["east", "north"]}}),
            (
                ("--joint", "place=east, north", "--x-kernel", "place=linear"),
                {"joint": {"place": ["east", "north"]}, "x_kernel": {"place": "linear"}},
            ),
        ],
    )
    def test_kernels(self, cohort, columns, options, settings):
        document = chosen(cohort, "-t", "risk", *drop("risk"), "-k", 5, *options)
        agrees(document, HSICLasso(5, **settings).fit(frame(columns), columns["risk"]))

    def test_one_kernel_for_all(self, cohort, columns):
        words = [part for name in ("sex", "smoker") for part in ("--drop", name)]
        options = ("-t", "risk", *drop("risk"), *words, "-k", 3, "--x-kernel", "laplace")
        X = frame(columns).drop(columns=["sex", "smoker"])
        agrees(chosen(cohort, *options), HSICLasso(3, x_kernel=Laplace()).fit(X, columns["risk"]))

    def test_columns_of_a_joint_feature(self, cohort):
        options = ("--joint", "both=lab2,smoker", "-k", 1)
        words = chosen(cohort, "-t", "risk", *drop("risk"), *options)
        assert words["features"][0]["name"] == "both"
        assert words["features"][0]["columns"] == ["lab2", "smoker"]

    def test_category(self, cohort, columns):
        options = ("-t", "risk", *drop("risk"), "-k", 9, "--alpha", 0)
        X = frame(columns)
        agrees(
            chosen(cohort, *options, "--category", "site"),
            HSICLasso(9, alpha=0).fit(X.assign(site=X["site"].astype("category")), columns["risk"]),
        )

    def test_weights(self, cohort, columns):
        options = ("-t", "risk", *drop("risk", "w"), "-k", 3, "--weights", "w")
        selector = HSICLasso(3).fit(frame(columns), columns["risk"], sample_weight=columns["w"])
        agrees(chosen(cohort, *options), selector)
        n_zero = np.count_nonzero(columns["w"] == 0)
        out = text(cohort, *options)
        assert f"{n_zero} samples of weight 0 dropped. Samples weighted by w." in out

    @pytest.mark.parametrize("method", [None, "project", "subtract"])
    def test_covariates(self, cohort, columns, method):
        options = ["--covariate", "site", "--covariate", "lab0", "--category", "site"]
        options += [] if method is None else ["--covariate-method", method]
        X = frame(columns)
        selector = HSICLasso(
            2, covariates=["site", "lab0"], covariate_method=method or "project"
        ).fit(X.assign(site=X["site"].astype("category")), columns["risk"])
        arguments = ("-t", "risk", *drop("risk"), "-k", 2, *options)
        document = chosen(cohort, *arguments)
        agrees(document, selector)
        assert document["covariates"] == ["lab0", "site"]
        assert document["n_removed"] == selector.result_.n_removed
        said = "Taken from the target's matrix: that of lab0, site."
        if method != "subtract":
            said = f"Removed from features and target: {document['n_removed']} functions of lab0"
        assert said in text(cohort, *arguments)

    def test_a_warning_about_identifiers(self, cohort):
        used = [part for part in drop("risk") if part != "patient"][1:]
        result = run(cohort, "-t", "risk", *used, "-k", 1)
        assert result.exit_code == 0
        assert result.stderr.startswith("Warning: column 'patient' holds another text in nearly")
        assert len(result.stderr.splitlines()) == 1


class TestMissing:
    @pytest.fixture
    def gaps(self, tmp_path, columns):
        return write(
            tmp_path / "gaps.csv",
            columns,
            lab2=dict.fromkeys(range(0, 30), "NA"),
            sex={5: "", 8: "n/a"},
            lab3=dict.fromkeys(range(0, 60), ""),
            risk={1: "", 2: "NA"},
        )

    def test_values_are_judged_where_they_are_observed(self, gaps, columns):
        options = ("-t", "visits", *drop("visits"), "-k", 3, "--missing", "ignore")
        result = run(gaps, *options, "--json")
        document = json.loads(result.stdout)
        observed = {f["name"]: f["n_observed"] for f in document["features"]}
        assert observed["lab2"] == N - 30
        assert document["few_observed"] == ["lab3"]
        assert "observed on fewer than 45 samples" in result.stderr
        table = text(gaps, *options)
        assert " observed " in table.splitlines()[1]
        line = next(line for line in table.splitlines() if " lab2 " in line)
        assert f" {N - 30} " in line

    def test_agreement_with_the_estimator(self, gaps, columns):
        X = frame(columns)
        X = X.assign(
            lab2=X["lab2"].where(X.index >= 30),
            lab3=X["lab3"].where(X.index >= 60),
            sex=X["sex"].where(~X.index.isin([5, 8])),
        )
        options = ("-t", "visits", *drop("visits"), "-k", 4, "--missing", "ignore")
        selector = HSICLasso(4, missing="ignore", min_observed=20).fit(X, columns["visits"])
        agrees(chosen(gaps, *options, "--min-observed", 20), selector)

    @pytest.mark.parametrize("least", ["0.3", "30"])
    def test_min_observed(self, gaps, least):
        options = ("-t", "visits", *drop("visits"), "--missing", "ignore")
        document = chosen(gaps, *options, "--min-observed", least)
        assert document["few_observed"] == []

    def test_no_column_without_need(self, cohort, gaps):
        plain = text(cohort, "-t", "visits", *drop("visits"), "--missing", "ignore")
        assert "observed" not in plain
        words = ("--drop", "lab2", "--drop", "lab3", "--drop", "sex")
        assert "observed" not in text(gaps, "-t", "visits", *drop("visits"), *words)

    def test_rows_without_a_target_are_dropped_on_request(self, gaps):
        options = ("-t", "risk", *drop("risk"), "-k", 2, "--missing", "ignore")
        message = run(gaps, *options).stderr
        assert "target 'risk' has no value in data row 2 (2 rows in all)" in message
        assert "--missing-target drop" in message
        document = chosen(gaps, *options, "--missing-target", "drop")
        assert (document["n_samples"], document["n_dropped"]) == (N - 2, 2)
        out = text(gaps, *options, "--missing-target", "drop")
        assert "2 samples without a target dropped." in out

    def test_a_target_of_several_columns(self, gaps):
        options = ("-t", "visits", "-t", "risk", *drop("visits", "risk"), "--missing", "ignore")
        assert "target 'visits' or 'risk' has no value in data row 2" in run(gaps, *options).stderr
        words = ("-t", "sex", "-t", "visits", *drop("visits"), "--missing", "ignore")
        assert "target 'sex' or 'visits' has no value in data row 6" in run(gaps, *words).stderr

    def test_by_default_the_first_is_named(self, gaps):
        message = run(gaps, "-t", "visits", *drop("visits")).stderr
        assert "column 'lab2' has no value in data row 1" in message
        assert "--missing ignore" in message
        assert "--drop 'lab2'" in message

    def test_rows_that_are_not_used_may_lack_values(self, tmp_path, columns):
        file = write(
            tmp_path / "t.csv", columns, lab2={3: ""}, risk={3: ""}, lab1={5: ""}, w={5: 0}
        )
        options = ("-t", "risk", *drop("risk", "w"), "-k", 2, "--weights", "w")
        assert "no value in data row 4" in run(file, *options).stderr
        document = chosen(file, *options, "--missing-target", "drop")
        assert document["n_samples"] == N - document["n_dropped"]
        out = text(file, *options, "--missing-target", "drop")
        assert f"{document['n_dropped']} samples without a target or of weight 0 dropped." in out

    def test_columns_of_wide_tables(self, tmp_path, rng):
        X = rng.standard_normal((30, 5))
        X[7, 3] = np.nan
        for order in ("C", "F"):
            np.savez(tmp_path / "t.npz", X=np.array(X, order=order), y=X[:, 0])
            message = run(tmp_path / "t.npz", "-t", "y").stderr
            assert "column 'x3' has no value in data row 8" in message

    def test_pieces_of_long_tables(self, tmp_path, rng, monkeypatch):
        monkeypatch.setattr("hsiclasso.data.sources.CHECK_ENTRIES", 20)
        self.test_columns_of_wide_tables(tmp_path, rng)

    def test_covariates_must_be_complete(self, gaps):
        options = ("-t", "visits", *drop("visits"), "--missing", "ignore", "--covariate", "sex")
        message = run(gaps, *options).stderr
        assert "covariate 'sex' has no value in data row 6" in message

    def test_infinity_is_refused(self, tmp_path, columns):
        file = write(tmp_path / "t.csv", columns, lab1={4: "inf"})
        message = run(file, "-t", "visits", *drop("visits"), "--missing", "ignore").stderr
        assert "infinity in column 'lab1'" in message


def test_everything_is_in_json_and_in_the_written_table(cohort, tmp_path):
    out = tmp_path / "result.csv"
    options = ("-t", "risk", *drop("risk", "w"), "-k", 2, "--weights", "w", "--covariate", "site")
    document = chosen(cohort, *options, "--out", out)
    assert {"n_dropped", "covariates", "n_removed", "few_observed", "constant"} <= set(document)
    assert {"n_observed", "columns", "origin", "group"} <= set(document["features"][0])
    with out.open(newline="", encoding="utf-8") as stream:
        (first, *_) = csv.DictReader(stream)
    assert int(first["n_observed"]) == document["n_samples"]


class TestContradictions:
    """Each is a sentence, before any file is read."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("-t", "y", "--survival", "a", "b"), "--target and --survival both say what to expl"),
            (("--affinity", "K.npy", "--graph", "A.npz"), "--affinity and --graph both say what"),
            (("-t", "y", "--graph-kernel", "diffusion"), "--graph-kernel diffusion is for links"),
            (("--affinity", "K.npy", "--beta", 2), "--beta 2.0 is for links between samples"),
            (("--graph", "A.npz", "--beta", 0), "0.0 is not in the range x>0"),
            (("--graph", "A.npz", "--beta", 1e9), "beta=1000000000.0, but a graph kernel"),
            (("--graph", "A.npz", "--graph-kernel", "heat"), "'heat' is not one of 'diffusion'"),
            (("--graph", "A.npz", "--task", "ordinal"), "--task ordinal has no meaning with --gr"),
            (("--affinity", "K", "--y-kernel", "delta"), "--y-kernel delta has no meaning with"),
            (("--affinity", "K", "--y-width", "2"), "--y-width has no meaning with --affinity"),
            (("--affinity", "K", "--y-transform", "rank"), "--y-transform rank has no meaning"),
            (("--graph", "A", "--multioutput", "joint"), "--multioutput joint has no meaning"),
            (("--graph", "A", "--missing-target", "drop"), "--missing-target drop has no meaning"),
            (("--survival", "a", "b", "--task", "counts"), "--task counts contradicts --survival"),
            (("--survival", "a"), "Option '--survival' requires 2 arguments"),
            (("--survival", "a", "a"), "column 'a' is named twice by --survival"),
            (("-t", "y", "--task", "survival"), "give them as --survival TIME EVENT"),
            (("-t", "y", "--task", "multilabel"), "needs a --target for each label"),
            (("-t", "y", "--task", "rating"), "'rating' is not one of 'auto', 'classification'"),
            (("-t", "y", "--task", "counts", "--y-transform", "rank"), "is for real targets, not"),
            (("-t", "y", "--task", "counts", "--category", "y"), "makes labels of a target that"),
            (("--survival", "a", "b", "--category", "b"), "a target that --survival takes for"),
            (("-t", "y", "--multioutput", "average"), "is for several targets: repeat --target"),
            (("--survival", "a", "b", "--multioutput", "joint"), "is for several targets"),
            (("-t", "y", "--y-kernel", "rbf"), "'rbf' is not one of 'auto', 'gaussian'"),
            (("-t", "y", "--y-kernel", "linear", "--y-width", 2), "meaning for a linear kernel"),
            (("-t", "y", "--task", "classification", "--y-width", 2), "for a delta kernel"),
            (("-t", "y", "--y-kernel", "laplace", "--y-width", "1,2"), "a Laplace kernel needs"),
            (("-t", "y", "-t", "y"), "column 'y' is named twice by --target"),
            (("-t", "y", "--drop", "y"), "column 'y' is named both by --target and by --drop"),
            (("-t", "y", "--weights", "y"), "named both by --target and by --weights"),
            (("-t", "y", "--covariate", "y"), "named both by --target and by --covariate"),
            (("-t", "y", "--weights", "w", "--covariate", "w"), "by --weights and by --covariate"),
            (("-t", "y", "--covariate", "b", "--drop", "b"), "both by --covariate and by --drop"),
            (("-t", "y", "--category", "b", "--drop", "b"), "both by --drop and by --category"),
            (("-t", "y", "--category", "w", "--weights", "w"), "by --weights and by --category"),
            (("-t", "y", "--min-observed", "0.5"), "is for tables with missing values: add"),
            (("-t", "y", "--missing", "ignore", "--min-observed", "2.5"), "neither a share of the"),
            (("-t", "y", "--missing", "ignore", "--min-observed", "0"), "neither a share of the"),
            (("-t", "y", "--missing", "ignore", "--min-observed", "half"), "neither a share of"),
            (("-t", "y", "--missing", "drop"), "'drop' is not one of 'error', 'ignore'"),
            (("-t", "y", "--covariate-method", "project"), "needs a covariate: name one"),
            (("-t", "y", "--x-kernel", "rbf"), "'rbf' is not one of 'gaussian', 'laplace'"),
            (("-t", "y", "--x-kernel", "a=auto"), "'auto' is not one of 'gaussian'"),
            (("-t", "y", "--x-kernel", "=delta"), "'=delta' names no column"),
            (("-t", "y", *2 * ("--x-kernel", "a=delta")), "'a' is given two kernels"),
            (("-t", "y", "--x-kernel", "a=delta", "--x-kernel", "linear"), "must be the only one"),
            (("-t", "y", "--x-kernel", "delta", "--x-width", 2), "--x-width has no meaning for"),
            (("-t", "y", "--x-width", "0.5,,2"), "'' is neither a positive number nor 'median'"),
            (("-t", "y", "--x-width", "1,wide"), "'wide' is neither a positive number"),
            (("-t", "y", "--joint", "place"), "'place' does not read NAME=COLUMN,COLUMN"),
            (("-t", "y", "--joint", "=a,b"), "'=a,b' does not read NAME=COLUMN,COLUMN"),
            (("-t", "y", "--joint", "p=a,"), "'p=a,' does not read NAME=COLUMN,COLUMN"),
            (("-t", "y", "--joint", "p=a,b", "--joint", "p=c,d"), "'p' is given twice"),
        ],
    )
    def test_options(self, tmp_path, arguments, message):
        # were the file looked at, the error would be that it is not there
        result = run(tmp_path / "no.csv", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr.splitlines()[-1]
        assert result.stdout == ""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("-t", "risk", "--weights", "sex"), "weights are numbers"),
            (("-t", "risk", "--covariate", "sight"), "covariates has 'sight', but there is no su"),
            (("-t", "risk", "--joint", "p=east,south"), "joint['p'] has 'south', but there is no"),
            (("-t", "risk", "--joint", "sex=east,north"), "but a column has that name"),
            (("-t", "risk", "--joint", "p=sex,east"), "has columns of labels"),
            (("-t", "risk", "--x-kernel", "laps=delta"), "x_kernel has 'laps', which is no col"),
            (("-t", "risk", "--x-kernel", "sex=linear"), "column 'sex' holds labels, which"),
            (("-t", "risk", "--x-kernel", "linear"), "column 'sex' holds labels, which"),
            (("-t", "sex", "--task", "ordinal"), "needs a numeric y"),
            (("-t", "risk", "--task", "counts"), "counts are whole numbers"),
            (("-t", "risk", "-t", "lab1", "--task", "multilabel"), "needs zeros and ones"),
            (("--survival", "risk", "lab1"), "but an event is 1"),
            (("--survival", "risk", "sex"), "that are not numbers"),
            (("-t", "risk", "--category", "sit"), "did you mean 'site'"),
            (("--affinity", "wide.npy"), "wide.npy holds an array of shape (2, 3)"),
            (("--affinity", "small.npy"), "shape (2, 2), but it needs one row and one column"),
            (("--graph", "no.npy"), "no.npy does not exist"),
        ],
    )
    def test_what_only_the_data_can_tell(self, cohort, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        np.save("wide.npy", np.ones((2, 3)))
        np.save("small.npy", np.eye(2))
        result = run(cohort, *arguments, *drop("risk"))
        assert result.exit_code == 2
        assert message in result.stderr.splitlines()[-1]
        assert result.stdout == ""
