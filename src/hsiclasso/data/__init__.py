"""Station 1: input -> named column blocks."""

from hsiclasso.data.sources import Source, as_source, check_finite
from hsiclasso.data.synthetic import make_data1, make_data2

__all__ = ["Source", "as_source", "check_finite", "make_data1", "make_data2"]
