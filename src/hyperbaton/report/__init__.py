"""Reports of runs, and the pictures of what was learned."""

from hyperbaton.report.whole import write_report, write_sections

__all__ = ["write_report", "write_sections"]
