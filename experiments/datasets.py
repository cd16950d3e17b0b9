"""Where the real data lie, and how files are read. Nothing is ever copied into the project."""

import argparse
import gzip
import hashlib
import importlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

_ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "HSICLASSO_DATA"
#: Probe of TRIM32 on the Affymetrix Rat Genome 230 2.0 array.
TRIM32 = "1389163_at"
#: No log2 intensity of a 16-bit scanner comes near it; plain intensities are far above.
_LARGEST_LOG = 30.0

Arrays = tuple[np.ndarray, np.ndarray]


class MissingDataError(FileNotFoundError):
    """A data set is not there; the message says where it comes from."""


class WrongDataError(ValueError):
    """A file is there, but it is not the one meant; the message says what differs."""


@dataclass(frozen=True)
class Cells:
    """Expression of genes in single cells.

    Attributes
    ----------
    expression : scipy.sparse.csr_matrix of shape (n_cells, n_genes)
    genes, labels : ndarray of str
    """

    expression: sparse.csr_matrix
    genes: np.ndarray
    labels: np.ndarray


def default_folder() -> Path:
    """Return the folder of the variable, else ``../shared/data`` if it exists, else ``data``."""
    named = os.environ.get(VARIABLE)
    beside = _ROOT.parent / "shared" / "data"
    if named:
        return Path(named)
    return beside if beside.is_dir() else _ROOT / "data"


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Let the user say where the data lie."""
    parser.add_argument(
        "--data",
        type=Path,
        default=default_folder(),
        metavar="FOLDER",
        help=f"folder with the real data (default: ${VARIABLE}, else ../shared/data where it "
        "exists, else data)",
    )


def data_file(folder: Path, name: str, source: str) -> Path:
    """Path of a file of the data folder, or an error that says where to get it."""
    path = folder / name
    if not path.exists():
        raise MissingDataError(
            f"{path} does not exist. It comes from {source}; put it there, or say where it is "
            f"with --data or the variable {VARIABLE}."
        )
    return path


def checksum(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_npz(folder: Path, name: str, source: str) -> dict[str, np.ndarray]:
    """Arrays of a stored set."""
    with np.load(data_file(folder, name, source), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def read_features(path: Path) -> Arrays:
    """Read features (n, d) and target (n,) from a file; its suffix tells the format."""
    return _READERS[path.suffix](path)


def _package(name: str, path: Path):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingDataError(
            f"{name} is not installed, and {path.name} needs it: pip install {name}"
        ) from None


def _pick(path: Path, found: dict, *names: str) -> Arrays:
    """Return X and the first of the targets' `names` that is there."""
    target = next((name for name in names if name in found), None)
    if "X" not in found or target is None:
        wanted = "' or '".join(names)
        keys = ", ".join(key for key in found if not key.startswith("__"))
        raise WrongDataError(
            f"{path} has the arrays {keys or 'none'}; it must have 'X' and '{wanted}'."
        )
    return found["X"], np.ravel(found[target])


def _read_npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as stored:
        return _pick(path, dict(stored), "y", "Y")


def _read_mat(path: Path) -> Arrays:
    return _pick(path, loadmat(path), "Y", "y")


def _read_csv(path: Path) -> Arrays:
    """Labels are in the column ``class`` or ``y``, else in the last; the first line has names."""
    table = _package("pandas", path).read_csv(path)
    named = [name for name in table.columns if name.strip().lower() in ("class", "y")]
    label = (named or list(table.columns))[-1]
    return table.drop(columns=label).to_numpy(float), table[label].to_numpy()


def _read_rda(path: Path) -> Arrays:
    """The first object of the file is a list with the matrix `x` and the vector `y`."""
    with path.open("rb") as file:
        stored = next(iter(_package("rdata", path).read_rda(file).values()))
    return np.asarray(stored["x"], float), np.ravel(np.asarray(stored["y"], float))


def _series_table(path: Path) -> str:
    """Text of the table of a GEO series matrix."""
    begin, end = "!series_matrix_table_begin", "!series_matrix_table_end"
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        _, found, rest = file.read().partition(f"{begin}\n")
    table, ended, _ = rest.partition(end)
    if not (found and ended):
        raise WrongDataError(f"{path} has no table between the lines {begin} and {end}.")
    return table


def _read_series(path: Path) -> Arrays:
    """Probes of a GEO series matrix, transposed; TRIM32 is the target, the others the features.

    The study works with log2 intensities. If the file holds plain intensities, their logarithms
    are taken.
    """
    table = _package("pandas", path).read_csv(
        io.StringIO(_series_table(path)), sep="\t", index_col=0
    )
    values = table.to_numpy(float)
    if list(table.index).count(TRIM32) != 1:
        raise WrongDataError(f"{path} must have the probe {TRIM32} (TRIM32), the target, once.")
    if np.isnan(values).any():
        raise WrongDataError(
            f"{path} has {np.isnan(values).sum()} missing values; there must be none."
        )
    if values.max() > _LARGEST_LOG:
        if values.min() <= 0:
            raise WrongDataError(f"{path} has intensities down to {values.min():g}; no log2.")
        values = np.log2(values)
    target = table.index.get_loc(TRIM32)
    return np.delete(values, target, axis=0).T, values[target]


_READERS = {
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".csv": _read_csv,
    ".rda": _read_rda,
    ".gz": _read_series,
}


def read_cells(folder: Path) -> Cells:
    """Read log-normalised expression and cell types of scanpy's pbmc68k_reduced, by h5py alone."""
    name = "formats/anndata/pbmc68k_reduced.h5ad"
    path = data_file(
        folder, name, "scanpy/datasets/10x_pbmc68k_reduced.h5ad of github.com/scverse/scanpy"
    )
    with _package("h5py", path).File(path) as file:
        stored = file["raw.X"]
        parts = tuple(stored[key][:] for key in ("data", "indices", "indptr"))
        expression = sparse.csr_matrix(parts, shape=tuple(stored.attrs["h5sparse_shape"]))
        genes = file["raw.var"]["index"].astype(str)
        kinds = file["uns/bulk_labels_categories"][:].astype(str)
        return Cells(expression, genes, kinds[file["obs"]["bulk_labels"]])
