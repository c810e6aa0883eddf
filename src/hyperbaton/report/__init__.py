"""Reports of runs, and the pictures of what was learned.

Names are imported when they are first used: most of the package needs Matplotlib, but text output does not.
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.report.whole import write_report as write_report
    from hyperbaton.report.whole import write_sections as write_sections

LazyNames(globals())
