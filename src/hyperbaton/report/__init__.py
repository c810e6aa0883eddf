"""Reports of runs, and the pictures of what was learned."""

from hyperbaton.report.whole import write_report

__all__ = ["write_report"]
