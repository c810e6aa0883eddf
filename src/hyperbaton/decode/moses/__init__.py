"""Import and export of Moses systems: a `moses.ini` with text tables and ARPA models.

Import from here; the rest of `decode` does not import it.
"""

from hyperbaton.decode.moses.exporting import export_moses as export_moses
from hyperbaton.decode.moses.importing import import_moses as import_moses
from hyperbaton.decode.moses.ini import OF_PHRASES as OF_PHRASES
from hyperbaton.decode.moses.ini import SHORT as SHORT
