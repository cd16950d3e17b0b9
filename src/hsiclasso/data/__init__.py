"""Station 1: input -> blocks of named columns. Files are read by `hsiclasso.data.files`."""

from hsiclasso.data.anndata import is_anndata, open_anndata
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.door import as_dataset, as_source, is_container
from hsiclasso.data.rows import RowSubset
from hsiclasso.data.sources import Kind, Missing, Source, Stored, check_finite
from hsiclasso.data.synthetic import make_copies, make_data1, make_data2

__all__ = [
    "Dataset",
    "Kind",
    "Missing",
    "RowSubset",
    "Source",
    "Stored",
    "as_dataset",
    "as_source",
    "check_finite",
    "is_anndata",
    "is_container",
    "make_copies",
    "make_data1",
    "make_data2",
    "open_anndata",
]
