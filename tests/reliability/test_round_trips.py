"""What is written is read again: tables in every format, and results in every format."""

from __future__ import annotations

import csv
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
for module in ("pyarrow", "h5py", "zarr", "zstandard", "click"):
    pytest.importorskip(module)
from hypothesis import settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule  # noqa: E402
from scipy import io  # noqa: E402

from hsiclasso import HSICLasso, read_table  # noqa: E402
from hsiclasso.cli.output import _write  # noqa: E402
from hsiclasso.data.dataset import column_values  # noqa: E402

#: Names that a spreadsheet or a terminal would leave as they are.
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8).map(
    lambda text: f"g{text}"
)
NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False) | st.sampled_from(
    [0.0, 1e-300, 1e300, 0.1 + 0.2]
)


def as_text(sep):
    return lambda frame, file: frame.to_csv(file, sep=sep, index=False)


def as_arrays(save):
    """A writer of arrays: names, numbers and the target."""

    def write(frame, file):
        features = frame.drop(columns="y")
        save(file, features.to_numpy(), frame["y"].to_numpy(), [*features])

    return write


def hdf5(file, X, y, names):
    import h5py

    with h5py.File(file, "w") as made:
        made["X"], made["y"], made["feature_names"] = X, y, names


def zarr(file, X, y, names):
    import zarr

    group = zarr.create_group(file, overwrite=True)
    group.create_array("X", data=X)
    group.create_array("y", data=y)
    group.create_array("names", shape=len(names), dtype="string")[:] = np.array(names, dtype=object)


def mat(file, X, y, names):
    io.savemat(file, {"X": X, "y": y, "feature_names": np.array(names, dtype=object)})


#: Writers of tables with numbers and labels, and of those with numbers only.
TABLES = {
    "t.csv": as_text(","), "t.tsv": as_text("\t"), "t.csv.gz": as_text(","),
    "t.csv.zst": as_text(","),
    "t.parquet": lambda frame, file: frame.to_parquet(file),
    "t.feather": lambda frame, file: frame.to_feather(file),
}  # fmt: skip
ARRAYS = {
    "t.npz": as_arrays(lambda file, X, y, names: np.savez(file, X=X, y=y, feature_names=names)),
    "t.h5": as_arrays(hdf5), "t.zarr": as_arrays(zarr), "t.mat": as_arrays(mat),
}  # fmt: skip


class Table(RuleBasedStateMachine):
    """A table that grows and changes, is written and read, and selected from."""

    def __init__(self):
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.folder, self.reads = Path(self.place.name), 0

    def teardown(self):
        self.place.cleanup()

    @initialize(seed=st.integers(0, 99), n=st.integers(12, 30))
    def begin(self, seed, n):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 3))
        self.frame = pd.DataFrame(X, columns=["ga", "gb", "gc"]).assign(y=X[:, 0] + X[:, 1] ** 2)

    @rule(data=st.data(), name=NAMES)
    def add_numbers(self, data, name):
        n = len(self.frame)
        values = data.draw(st.lists(NUMBERS, min_size=n, max_size=n), label="values")
        if len({*values}) > 1:
            self.frame[name] = values

    @rule(data=st.data(), name=NAMES)
    def add_labels(self, data, name):
        n = len(self.frame)
        levels = data.draw(st.lists(NAMES, min_size=2, max_size=4, unique=True), label="levels")
        self.frame[name] = (levels * n)[:n]

    @rule(name=NAMES)
    def rename(self, name):
        if name not in self.frame:
            self.frame = self.frame.rename(columns={self.frame.columns[0]: name})

    @rule(order=st.randoms(use_true_random=False))
    def shuffle(self, order):
        rows = [*range(len(self.frame))]
        order.shuffle(rows)
        self.frame = self.frame.iloc[rows].reset_index(drop=True)

    @rule(form=st.sampled_from([*TABLES]))
    def write_and_read(self, form):
        self.check(TABLES[form], form, self.frame)

    @rule(form=st.sampled_from([*ARRAYS]))
    def write_and_read_numbers(self, form):
        self.check(ARRAYS[form], form, self.frame.select_dtypes("number"))

    def check(self, write, form, frame):
        write(frame, self.folder / form)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "column", UserWarning)  # looks like an identifier
            table = read_table(self.folder / form, "y")
        source, wanted = table.source, frame.drop(columns="y")
        assert [source.name(j) for j in range(source.n_features)] == [*wanted]
        for j, name in enumerate(wanted):
            assert column_values(source, j).tolist() == wanted[name].tolist()
        assert np.asarray(table.y).tolist() == frame["y"].tolist()
        self.reads += 1

    @rule(form=st.sampled_from([".csv", ".tsv", ".json"]), number=st.integers(1, 3))
    def select_and_write(self, form, number):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = HSICLasso(number, target="real", n_jobs=1).fit(
                self.frame.drop(columns="y"), self.frame["y"]
            )
        result, file = found.result_, self.folder / f"result{form}"
        _write(result, result.fields, file)
        if form == ".json":
            rows = json.loads(file.read_text(encoding="utf-8"))["features"]
        else:
            with file.open(newline="", encoding="utf-8") as stream:
                rows = [*csv.DictReader(stream, delimiter="," if form == ".csv" else "\t")]
        assert [row["name"] for row in rows] == list(result.names)
        weights = [float(row["weight"]) for row in rows]
        assert weights == [feature.weight for feature in result.features]

    @invariant()
    def leaves_nothing(self):
        assert not [file for file in self.folder.iterdir() if file.name.startswith(".")]


Table.TestCase.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
TestTable = Table.TestCase
