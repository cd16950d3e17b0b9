"""Station 10: a report of a selection: one HTML file that opens offline."""

from hsiclasso.report.asked import Asked
from hsiclasso.report.write import REPORT_SUFFIXES, make_report, write_report

__all__ = ["REPORT_SUFFIXES", "Asked", "make_report", "write_report"]
