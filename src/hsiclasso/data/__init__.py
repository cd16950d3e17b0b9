"""Station 1: input -> named column blocks."""

from hsiclasso.data.files import Table, read_table
from hsiclasso.data.groups import read_groups
from hsiclasso.data.sources import Source, as_source, check_finite
from hsiclasso.data.synthetic import make_data1, make_data2

__all__ = [
    "Source",
    "Table",
    "as_source",
    "check_finite",
    "make_data1",
    "make_data2",
    "read_groups",
    "read_table",
]
