"""Text to work on: generated sentence pairs, with true links, tags and trees, of any size; and public corpora by name."""

from hyperbaton.data.generate import GeneratedText, Language, generate
from hyperbaton.data.preparation import Preparation, PreparedCorpus, get_corpus
from hyperbaton.data.style import STYLES, Style

__all__ = ["STYLES", "GeneratedText", "Language", "Preparation", "PreparedCorpus", "Style", "generate", "get_corpus"]
