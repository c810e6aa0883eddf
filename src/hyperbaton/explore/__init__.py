"""A page for exploring translations: one file that needs no server, or the start page of the service.

data = collect(Run(Path("demo")))                        hyperbaton.explore.collect, hyperbaton.explore.run
write_page(Path("page.html"), data)                      hyperbaton.explore.page
"""

from hyperbaton.explore.collect import PageSelection, collect
from hyperbaton.explore.page import page, write_page
from hyperbaton.explore.run import Run
from hyperbaton.explore.sentence import sentence_object

__all__ = ["PageSelection", "Run", "collect", "page", "sentence_object", "write_page"]
