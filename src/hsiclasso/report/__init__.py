"""Station 10: a report of a selection: one HTML file that opens offline."""

from hsiclasso.report.asked import Asked
from hsiclasso.report.compared import make_comparison, write_comparison
from hsiclasso.report.files import REPORT_SUFFIXES
from hsiclasso.report.write import make_report, write_report

__all__ = [
    "REPORT_SUFFIXES",
    "Asked",
    "make_comparison",
    "make_report",
    "write_comparison",
    "write_report",
]
