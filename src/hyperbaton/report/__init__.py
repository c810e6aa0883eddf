"""Reports of runs, and the pictures of what was learned.

Names are imported when they are first used: most of the package needs Matplotlib, but text output does not.
"""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.report.whole import write_report, write_sections
else:
    __getattr__ = names_from(__name__, {"whole": ("write_report", "write_sections")})

__all__ = ["write_report", "write_sections"]
