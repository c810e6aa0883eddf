"""Translation of raw text: sentences, structure, tags, numbers and addresses, and glossaries.

Import from here; the modules inside import each other and the rest of `decode`, which does not import them.
"""

from hyperbaton.decode.raw.glossary import Glossary as Glossary
from hyperbaton.decode.raw.structure import HTML as HTML
from hyperbaton.decode.raw.structure import PLAIN as PLAIN
from hyperbaton.decode.raw.structure import XML as XML
from hyperbaton.decode.raw.structure import TextFormat as TextFormat
from hyperbaton.decode.raw.text import Document as Document
from hyperbaton.decode.raw.text import RawText as RawText
from hyperbaton.decode.raw.text import RawTranslator as RawTranslator
from hyperbaton.decode.raw.text import SearchResult as SearchResult
from hyperbaton.decode.raw.text import Sentence as Sentence
from hyperbaton.decode.raw.text import SentenceTranslation as SentenceTranslation
from hyperbaton.decode.raw.text import by_document as by_document
from hyperbaton.decode.raw.text import check_annotations as check_annotations
