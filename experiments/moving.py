"""What `hsiclasso.compat` shares with pyHSICLasso, and where the two differ and why.

``python -m experiments.moving [--data FOLDER] [--out experiments/results]``

Needs pyHSICLasso 1.4.2 (``benchmarks/requirements.txt``), which runs with ``B=0``, without blocks.

1. Agreement on the files of its own tests and on tables that are made here.
2. Several real outputs: pyHSICLasso divides all of them by one standard deviation, that of all
   their entries, so that units and means of outputs matter. `hsiclasso.compat` does the same,
   `hsiclasso.HSICLasso` standardises each output.
3. Several outputs of classes: pyHSICLasso looks labels up in all outputs at once, so that the
   *names* of labels matter. Both of ours have a kernel for each output and take the mean.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import warnings
from pathlib import Path

import numpy as np

from experiments.markdown import table as lines_of_table
from hsiclasso import HSICLasso, Real
from hsiclasso.compat import HSICLasso as Compat

_ROOT = Path(__file__).resolve().parents[1]
_DATA = _ROOT.parent / "shared" / "data"
_OUT = _ROOT / "experiments" / "results"
#: Calls on the files: name, file, method and arguments.
_CALLS = [
    ("matlab_data.mat", "regression", {}),
    ("csv_data.csv", "classification", {}),
    ("csv_data.csv", "classification", {"discrete_x": True}),
    ("tsv_data.tsv", "regression", {}),
    ("csv_data_mv.csv", "regression", {}),
    ("csv_data_mv.csv", "classification", {}),
    ("matlab_data.mat", "regression", {"covars": [99]}),
    ("matlab_data.mat", "regression", {"covars": [99, 299]}),
    ("matlab_data.mat", "classification", {"covars": [1422, 512]}),
]


def run(model, given: tuple, method: str, number: int, output_list=None, **options):
    """Fit a model of either package without blocks, in silence; return it."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.input(*given, **({} if output_list is None else {"output_list": output_list}))
        if "covars" in options:
            options["covars"] = model.X_in[options["covars"]].T
        getattr(model, method)(number, B=0, n_jobs=1, **options)
    return model


def compared(theirs, ours) -> list[str]:
    """Return how two fitted models compare, as cells of a table."""
    a, b = np.zeros((2, len(theirs.X_in)))
    a[theirs.A], b[ours.A] = theirs.beta[theirs.A, -1], ours.beta[ours.A, -1]
    # the other package ends a path with a feature of weight 0
    weighty = [k for k in theirs.A if a[k] > 1e-7]
    same, gap = "yes" if weighty == ours.A else "no", abs(a - b).max() / a.max()
    cells = [str(len(weighty)), same, f"{gap:.0e}"]
    if weighty != ours.A:
        return [*cells, ""]
    pairs = zip(theirs.A_neighbors_score, ours.A_neighbors_score, strict=False)
    return [*cells, f"{max(abs(np.ravel(x) - y).max() for x, y in pairs):.0e}"]


def on_files(peer, data: Path) -> list[list[str]]:
    """Compare both packages on the files of the other one's tests."""
    rows = []
    for name, method, options in _CALLS:
        outputs = {"output_list": ["output1", "output2"]} if "_mv" in name else {}
        shown = ", ".join([method, *(f"{key}={value}" for key, value in options.items())])
        for number in (5, 10):
            given = (str(data / "formats" / "pyhsiclasso" / name),)
            theirs, ours = (
                run(kind(), given, method, number, **outputs, **options) for kind in (peer, Compat)
            )
            rows.append([name, shown, str(number), *compared(theirs, ours)])
    return rows


def on_made_tables(peer) -> list[list[str]]:
    """Compare both packages on correlated tables, up to the ends of their paths."""
    rows = []
    for seed in (149, 213, 229, 292):  # on these paths a feature leaves
        rng = np.random.default_rng(seed)
        factors = rng.standard_normal((40, 3))
        X = factors @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((40, 12))
        y = factors[:, 0] * factors[:, 1] + factors[:, 2] + 0.2 * rng.standard_normal(40)
        for number in (4, 5, 6, 12):
            models = [run(kind(), (X, y), "regression", number) for kind in (peer, Compat)]
            rows.append([f"40 x 12, seed {seed}", "regression", str(number), *compared(*models)])
    return rows


def two_outputs(rng: np.random.Generator):
    """Make a table of 20 features, of which each of two outputs depends on one."""
    X = rng.standard_normal((150, 20))
    noise = rng.standard_normal((150, 2))
    return X, np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.3 * noise


def frame(X, y):
    """Return a table with its outputs as a frame, which all can read."""
    import pandas

    made = pandas.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
    return made.assign(output1=y[:, 0], output2=y[:, 1])


def outputs_in_units(peer, folder: Path) -> list[list[str]]:
    """Scores of the two causal features when an output changes its unit or its mean."""
    X, y = two_outputs(np.random.default_rng(0))
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    changes = {
        "equal means and deviations": y,
        "second output times 20": y * np.array([1, 20]),
        "second output plus 20": y + np.array([0, 20]),
    }
    rows = []
    for name, changed in changes.items():
        file = str(folder / "outputs.csv")
        frame(X, changed).to_csv(file, index=False)
        found = [
            run(kind(), (file,), "regression", 2, ["output1", "output2"]) for kind in (peer, Compat)
        ]
        target = Real(transform=None)
        ours = HSICLasso(2, measure="nhsic", max_redundancy=1.0, target=target).fit(X, changed)
        weights = [model.beta[:2].ravel() for model in found] + [ours.coef_[:2]]
        rows.append([name, *("{:.3f}, {:.3f}".format(*pair) for pair in weights)])
    return rows


def outputs_with_labels(peer, folder: Path) -> list[list[str]]:
    """Scores of the two causal features when the labels of an output change their names."""
    X, y = two_outputs(np.random.default_rng(0))
    classes = (y > np.median(y, axis=0)).astype(int)
    rows = []
    for name, changed in {
        "0, 1 and 0, 1": classes,
        "0, 1 and 1, 0": classes * np.array([1, -1]) + np.array([0, 1]),
        "0, 1 and 2, 3": classes + np.array([0, 2]),
    }.items():
        file = str(folder / "outputs.csv")
        frame(X, changed).to_csv(file, index=False)
        found = [
            run(kind(), (file,), "classification", 2, ["output1", "output2"])
            for kind in (peer, Compat)
        ]
        rows.append([name, *("{:.3f}, {:.3f}".format(*model.beta[:2, 0]) for model in found)])
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table as text."""
    return "\n".join(lines_of_table(head, rows)).rstrip()


def report(data: Path, folder: Path) -> str:
    """Make the page, in Markdown."""
    from pyHSICLasso import HSICLasso as Peer

    header = ["data", "call", "asked", "with weight", "same features, in order"]
    header += ["score gap / largest", "gap of similarities"]
    rows = (on_files(Peer, data) if data.is_dir() else []) + on_made_tables(Peer)
    models = ["pyHSICLasso, B=0", "hsiclasso.compat"]
    parts = [
        "# Moving from pyHSICLasso",
        "`hsiclasso.compat.HSICLasso` and pyHSICLasso 1.4.2 with `B=0`, which computes in single "
        "precision. Features are those with a positive weight: where a path ends before the number "
        "asked for, pyHSICLasso adds one feature of weight 0.",
        table(header, rows),
        "The rows that differ have several outputs of classes; see the last table.",
        "## Several real outputs",
        "Weights of v0 and v1, on which one output each depends. A change of units or of a mean "
        "changes those of pyHSICLasso, and of `compat`, which repeats it; `hsiclasso.HSICLasso` "
        "standardises each output.",
        table(["outputs", *models, "hsiclasso.HSICLasso"], outputs_in_units(Peer, folder)),
        "## Several outputs of classes",
        "The same with classes, whose labels have other names. Each output has the same classes in "
        "all rows. pyHSICLasso takes two samples for equal if *any* output of one has a label of "
        "the other, and later labels overwrite earlier ones. `compat` takes the mean of one delta "
        "kernel for each output, which names cannot change.",
        table(["labels", *models], outputs_with_labels(Peer, folder)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Print the page and save it."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--out", type=Path, default=_OUT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = report(options.data, Path(folder))
    print(page)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "moving.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
