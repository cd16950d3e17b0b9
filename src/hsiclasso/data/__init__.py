"""Station 1: input -> named column blocks."""

from hsiclasso.data.files import Table, read_table
from hsiclasso.data.groups import read_groups
from hsiclasso.data.rows import RowSubset
from hsiclasso.data.sources import Kind, Missing, Source, Stored, as_source, check_finite
from hsiclasso.data.synthetic import make_data1, make_data2

__all__ = [
    "Kind",
    "Missing",
    "RowSubset",
    "Source",
    "Stored",
    "Table",
    "as_source",
    "check_finite",
    "make_data1",
    "make_data2",
    "read_groups",
    "read_table",
]
