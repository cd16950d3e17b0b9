"""Station 1: input -> blocks of named columns."""

from hsiclasso.data.anndata import is_anndata, open_anndata
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.door import as_dataset, as_source, is_container
from hsiclasso.data.files import read_table
from hsiclasso.data.form import TextFormat
from hsiclasso.data.phenotype import Phenotype
from hsiclasso.data.rows import RowSubset
from hsiclasso.data.sources import Kind, Missing, Source, Stored, check_finite
from hsiclasso.data.synthetic import make_copies, make_data1, make_data2

__all__ = [
    "Dataset",
    "Kind",
    "Missing",
    "Phenotype",
    "RowSubset",
    "Source",
    "Stored",
    "TextFormat",
    "as_dataset",
    "as_source",
    "check_finite",
    "is_anndata",
    "is_container",
    "make_copies",
    "make_data1",
    "make_data2",
    "open_anndata",
    "read_table",
]
