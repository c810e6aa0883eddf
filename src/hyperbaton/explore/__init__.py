"""A page for exploring translations: one file that needs no server, or the start page of the service.

data = collect(Run(Path("demo")))                        hyperbaton.explore.collecting, hyperbaton.explore.run
write_page(Path("page.html"), data)                      hyperbaton.explore.pages
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.explore.collecting import PageSelection as PageSelection
    from hyperbaton.explore.collecting import collect as collect
    from hyperbaton.explore.pages import page as page
    from hyperbaton.explore.pages import write_page as write_page
    from hyperbaton.explore.run import Run as Run
    from hyperbaton.explore.sentence import sentence_object as sentence_object

LazyNames(globals())
