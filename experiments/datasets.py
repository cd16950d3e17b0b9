"""Where the real data lie, and how they are read. Nothing is ever copied into the project."""

import argparse
import importlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

_ROOT = Path(__file__).resolve().parents[1]
_VARIABLE = "HSICLASSO_DATA"


class MissingDataError(FileNotFoundError):
    """A data set is not there; the message says where it comes from."""


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


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Let the user say where the data lie."""
    folder = os.environ.get(_VARIABLE) or _ROOT.parent / "shared" / "data"
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder),
        help=f"folder with the real data (default: ${_VARIABLE}, else ../shared/data)",
    )


def data_file(folder: Path, name: str, source: str) -> Path:
    """Path of a file of the data folder, or an error that says where to get it."""
    path = folder / name
    if not path.exists():
        raise MissingDataError(
            f"{path} does not exist. It comes from {source}; put it there, or say where it is "
            f"with --data or the variable {_VARIABLE}."
        )
    return path


def read_npz(folder: Path, name: str, source: str) -> dict[str, np.ndarray]:
    """Arrays of a stored set."""
    with np.load(data_file(folder, name, source), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def read_cells(folder: Path) -> Cells:
    """Read log-normalised expression and cell types of scanpy's pbmc68k_reduced, by h5py alone."""
    name = "formats/anndata/pbmc68k_reduced.h5ad"
    path = data_file(
        folder, name, "scanpy/datasets/10x_pbmc68k_reduced.h5ad of github.com/scverse/scanpy"
    )
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        raise MissingDataError(
            "h5py is not installed, and pbmc68k_reduced.h5ad needs it: pip install h5py"
        ) from None
    with h5py.File(path) as file:
        stored = file["raw.X"]
        parts = tuple(stored[key][:] for key in ("data", "indices", "indptr"))
        expression = sparse.csr_matrix(parts, shape=tuple(stored.attrs["h5sparse_shape"]))
        genes = file["raw.var"]["index"].astype(str)
        kinds = file["uns/bulk_labels_categories"][:].astype(str)
        return Cells(expression, genes, kinds[file["obs"]["bulk_labels"]])
