import argparse
import gzip
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from experiments import catalogue, classification, datasets, regression
from experiments.catalogue import CATALOGUE, Entry, Original, load
from experiments.contenders import CLASSES, REAL
from experiments.datasets import (
    TRIM32,
    MissingDataError,
    WrongDataError,
    add_data_option,
    checksum,
)

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(6, 4)) * 100, 2)
Y = np.array([1, 1, 2, 2, 3, 3])
STORED = tuple(name for name, entry in CATALOGUE.items() if entry.npz)


def _npz(folder: Path) -> Path:
    path = folder / "small.npz"
    np.savez_compressed(path, X=X.astype(np.float32), y=Y)
    return path


def _mat(folder: Path, labels: np.ndarray = Y, name: str = "small-6.mat") -> Path:
    path = folder / name
    savemat(path, {"X": X, "Y": labels[:, None]})
    return path


def _enter(monkeypatch, entry: Entry, name: str = "small") -> None:
    monkeypatch.setitem(catalogue.CATALOGUE, name, entry)


def _public(npz: str | None, raw: str, **options: object) -> Entry:
    original = Original("https://source.example/a/small-6.mat", "small-6.mat of somebody", raw)
    return Entry("small", 6, 4, CLASSES, 3, npz, original, **{"decimals": 2, **options})


# ---- where the data lie


def _folder(arguments: tuple[str, ...] = ()) -> Path:
    parser = argparse.ArgumentParser()
    add_data_option(parser)
    return parser.parse_args(arguments).data


def test_the_folder_is_the_option_then_the_variable_then_beside_then_inside(monkeypatch, tmp_path):
    root = tmp_path / "checkout"
    monkeypatch.setattr(datasets, "_ROOT", root)
    monkeypatch.delenv("HSICLASSO_DATA", raising=False)
    assert _folder() == root / "data"
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert _folder() == tmp_path / "shared" / "data"
    monkeypatch.setenv("HSICLASSO_DATA", "named")
    assert _folder() == Path("named")
    assert _folder(("--data", "option")) == Path("option")


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_missing_set_says_where_it_comes_from_and_how_to_get_it(name, tmp_path):
    with pytest.raises(MissingDataError) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    entry = CATALOGUE[name]
    for part in (str(tmp_path), "--data", "HSICLASSO_DATA"):
        assert part in message
    if entry.original:
        assert f"python -m experiments.download {name}" in message
        assert entry.original.where in message
    else:
        assert "Arizona State University" in message


def test_an_unknown_set_lists_the_known(tmp_path):
    with pytest.raises(ValueError, match=r"'warp'.*warpAR10P.*rat_eye_full"):
        load("warp", tmp_path)


# ---- stored arrays and originals


def test_the_original_gives_the_same_arrays_as_the_stored_ones(monkeypatch, tmp_path):
    for folder in ("stored", "raw"):
        (tmp_path / folder).mkdir()
    stored, raw = _npz(tmp_path / "stored"), _mat(tmp_path / "raw", Y - 1)
    for decimals in (2, None):
        _enter(monkeypatch, _public(checksum(stored), checksum(raw), decimals=decimals))
        first, second = load("small", stored.parent), load("small", raw.parent)
        np.testing.assert_array_equal(first.X, second.X)
        np.testing.assert_array_equal(first.y, Y)
        np.testing.assert_array_equal(second.y, Y)
        assert first.X.dtype == second.X.dtype == float
        assert (decimals is None) != np.array_equal(first.X, X)


def test_the_stored_arrays_come_first(monkeypatch, tmp_path):
    stored = _npz(tmp_path)
    (tmp_path / "small-6.mat").write_text("not to be read")
    _enter(monkeypatch, _public(checksum(stored), "0" * 64))
    assert load("small", tmp_path).X.shape == (6, 4)


@pytest.mark.parametrize("make", [_npz, _mat])
def test_a_wrong_checksum_is_an_error_with_file_checksums_and_remedy(monkeypatch, tmp_path, make):
    path = make(tmp_path)
    found = checksum(path)
    _enter(monkeypatch, _public("a" * 64, "a" * 64))
    with pytest.raises(WrongDataError) as caught:
        load("small", tmp_path)
    for part in (str(path), found, "a" * 64, "python -m experiments.download small"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("n", "d", "classes", "message"),
    [
        (5, 4, 3, r"\(6, 4\).*5 samples with 4 features"),
        (6, 5, 3, "6 samples with 5 features"),
        (6, 4, 2, "has 3 classes; small has 2"),
    ],
)
def test_another_shape_or_number_of_classes_is_an_error(
    monkeypatch, tmp_path, n, d, classes, message
):
    _mat(tmp_path)
    _enter(monkeypatch, Entry("small", n, d, CLASSES, classes, own=("small-6.mat",)))
    with pytest.raises(WrongDataError, match=message):
        load("small", tmp_path)


def test_a_label_too_few_is_an_error(monkeypatch, tmp_path):
    np.savez(tmp_path / "small.npz", X=X, y=Y[:5])
    _enter(monkeypatch, Entry("small", 6, 4, CLASSES, 3, own=("small.npz",)))
    with pytest.raises(WrongDataError, match=r"target of shape \(5,\)"):
        load("small", tmp_path)


def test_values_that_are_not_finite_are_an_error(monkeypatch, tmp_path):
    np.savez(tmp_path / "small.npz", X=np.where(X[2, 1] == X, np.nan, X), y=Y)
    _enter(monkeypatch, Entry("small", 6, 4, CLASSES, 3, own=("small.npz",)))
    with pytest.raises(WrongDataError, match="missing or infinite"):
        load("small", tmp_path)


@pytest.mark.parametrize("name", ["small.mat", "small.npz", "small.csv", "small.gz"])
def test_a_file_that_is_none_of_its_format_is_named(monkeypatch, tmp_path, name):
    (tmp_path / name).write_bytes(b"\x1f" * 300)
    _enter(monkeypatch, Entry("small", 6, 4, CLASSES, 3, own=(name,)))
    with pytest.raises(WrongDataError, match=name):
        load("small", tmp_path)


def test_a_mat_file_without_labels_lists_what_it_has(monkeypatch, tmp_path):
    savemat(tmp_path / "small.mat", {"X": X, "labels": Y})
    _enter(monkeypatch, Entry("small", 6, 4, CLASSES, 3, own=("small.mat",)))
    with pytest.raises(WrongDataError, match="arrays X, labels; it must have 'X' and 'Y'"):
        load("small", tmp_path)


# ---- the user's own file


def _csv(path: Path, header: str, columns: list[np.ndarray]) -> None:
    rows = [",".join(str(value) for value in row) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize(
    ("header", "at"), [("a,b,c,d,kind", 4), ("a,Class,b,c,d", 1), ("y,a,b,c,d", 0)]
)
def test_labels_of_a_csv_file_are_in_a_named_column_or_the_last(monkeypatch, tmp_path, header, at):
    columns = list(X.T)
    columns.insert(at, np.array(["CLL", "CLL", "SLL", "SLL", "normal", "normal"]))
    _csv(tmp_path / "small.csv", header, columns)
    _enter(monkeypatch, Entry("small", 6, 4, CLASSES, 3, own=("small.csv",)))
    data = load("small", tmp_path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, Y[[0, 0, 2, 2, 4, 4]])


@pytest.mark.parametrize("name", ["CLL_SUB_111.mat", "CLL-SUB-111.mat", "CLL_SUB_111.npz"])
def test_cll_sub_takes_the_users_own_file(tmp_path, name):
    values, labels = RNG.normal(size=(111, 11340)), np.repeat([1, 2, 3], 37)
    if name.endswith(".mat"):
        savemat(tmp_path / name, {"X": values, "Y": labels[:, None]})
    else:
        np.savez(tmp_path / name, X=values, y=labels)
    data = load("CLL_SUB_111", tmp_path)
    np.testing.assert_array_equal(data.X, values)
    np.testing.assert_array_equal(data.y, labels)


def test_another_file_is_not_taken_for_cll_sub(tmp_path):
    _mat(tmp_path, name="CLL_SUB_111.mat")
    with pytest.raises(WrongDataError, match="111 samples with 11340 features"):
        load("CLL_SUB_111", tmp_path)


# ---- rat eyes


def _series(folder: Path, values: np.ndarray, probes: list[str], end: bool = True) -> None:
    """Write a table (probes x samples) the way GEO does."""
    lines = ['!Series_title\t"Rat eyes"', "!series_matrix_table_begin"]
    lines.append("\t".join(['"ID_REF"', *(f'"GSM{k}"' for k in range(values.shape[1]))]))
    for probe, row in zip(probes, values, strict=True):
        lines.append("\t".join([f'"{probe}"', *("" if np.isnan(v) else str(v) for v in row)]))
    lines += ["!series_matrix_table_end"] if end else []
    with gzip.open(folder / "eyes.txt.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")


PROBES = ["1_at", "2_at", TRIM32, "AFFX_at"]
EYES = [[float(10 * probe + rat) / 4 for rat in range(6)] for probe in range(4)]


@pytest.fixture
def eyes(monkeypatch):
    _enter(monkeypatch, Entry("eyes", 6, 3, REAL, own=("eyes.txt.gz",)), "eyes")
    return np.array(EYES)


def test_trim32_is_the_target_and_every_other_probe_a_feature(eyes, tmp_path):
    _series(tmp_path, eyes, PROBES)
    data = load("eyes", tmp_path)
    np.testing.assert_array_equal(data.X, eyes[[0, 1, 3]].T)
    np.testing.assert_array_equal(data.y, eyes[2])


def test_plain_intensities_become_log2(eyes, tmp_path):
    _series(tmp_path, 2.0**eyes, PROBES)
    data = load("eyes", tmp_path)
    np.testing.assert_allclose(data.X, eyes[[0, 1, 3]].T, rtol=1e-12)
    np.testing.assert_allclose(data.y, eyes[2], rtol=1e-12)


def test_a_series_that_is_not_whole_says_what_is_wrong(eyes, tmp_path):
    gap = eyes.copy()
    gap[1, 2] = np.nan
    below = 100 * eyes - 1
    for values, probes, end, message in (
        (eyes, PROBES, False, "no table between"),
        (eyes, ["1_at", "2_at", "3_at", "4_at"], True, f"{TRIM32}.*once"),
        (gap, PROBES, True, "1 missing values"),
        (below, PROBES, True, "intensities down to -1"),
        (eyes[:, :5], PROBES, True, r"\(5, 3\).*6 samples"),
        (eyes[:3], PROBES[:3], True, r"\(6, 2\).*3 features"),
    ):
        _series(tmp_path, values, probes, end)
        with pytest.raises(WrongDataError, match=message):
            load("eyes", tmp_path)


def test_a_series_that_stops_short_is_an_error(eyes, tmp_path):
    _series(tmp_path, eyes, PROBES)
    path = tmp_path / "eyes.txt.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(WrongDataError, match=r"eyes\.txt\.gz"):
        load("eyes", tmp_path)


@pytest.fixture
def rat(monkeypatch, tmp_path):
    """A small list of R in `rat.rda`, as the package `rdata` writes it."""
    path = tmp_path / "rat.rda"
    original = Original("https://source.example/rat.rda", "rat.rda of somebody", None)
    _enter(monkeypatch, Entry("rat", 6, 4, REAL, original=original, decimals=2), "rat")
    return path


def test_an_r_file_is_read_by_rdata(rat):
    rdata = pytest.importorskip("rdata", reason="rdata is not installed")
    rdata.write_rda(rat, {"rat": {"x": X, "y": X[:, 0] / 2}})
    data = load("rat", rat.parent)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, X[:, 0] / 2)


def test_the_list_of_an_r_file_has_x_and_y(rat, monkeypatch):
    stored = {"rat": {"x": X, "y": X[:, :1] / 2}}
    fake = types.SimpleNamespace(read_rda=lambda file: stored)
    monkeypatch.setitem(sys.modules, "rdata", fake)
    rat.write_bytes(b"")
    data = load("rat", rat.parent)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, X[:, 0] / 2)
    del stored["rat"]["y"]
    with pytest.raises(WrongDataError, match=r"rat\.rda"):
        load("rat", rat.parent)


def test_without_rdata_the_message_says_what_to_install(rat, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata", None)
    rat.write_bytes(b"")
    with pytest.raises(MissingDataError, match=r"rat\.rda needs it: pip install rdata"):
        load("rat", rat.parent)


# ---- the catalogue


def test_studies_know_their_sets():
    kinds = {CLASSES: classification.SETS, REAL: regression.SETS}
    assert {name for sets in kinds.values() for name in sets} == set(CATALOGUE)
    for kind, sets in kinds.items():
        assert {CATALOGUE[name].kind for name in sets} == {kind}


def test_originals_are_fixed_by_commit_and_checksum():
    for name, entry in CATALOGUE.items():
        if entry.npz:
            parts = entry.original.address.split("/")
            assert parts[2] == "raw.githubusercontent.com"
            assert len(parts[5]) == 40, name
            assert len(entry.original.sha256) == len(entry.npz) == 64
            assert entry.original.size > 0


def test_the_catalogue_agrees_with_the_notes_beside_the_data(data_folder):
    notes = json.loads((data_folder / "metadata.json").read_text())
    for name in STORED:
        entry, note = CATALOGUE[name], notes[name]
        source = note["source"]
        assert [entry.n, entry.d] == note["shape"]
        assert entry.classes == note.get("n_classes")
        assert entry.npz == note["sha256"]
        assert (entry.original.sha256, entry.original.size) == (
            source["raw_sha256"],
            source["raw_bytes"],
        )
        repository = source["repo"].removeprefix("https://github.com/")
        assert entry.original.address.endswith(f"/{repository}/{source['commit']}/{source['path']}")


@pytest.mark.parametrize("name", STORED)
def test_every_stored_set_loads(data_folder, name):
    if not (data_folder / f"{name}.npz").exists():
        pytest.skip(f"{name}.npz is not in ../shared/data")
    data, entry = load(name, data_folder), CATALOGUE[name]
    assert data.X.shape == (entry.n, entry.d)
    assert np.isfinite(data.X).all()
    if entry.kind == CLASSES:
        np.testing.assert_array_equal(np.unique(data.y), np.arange(1, entry.classes + 1))
    else:
        assert 8.3 < data.y.mean() < 8.5
