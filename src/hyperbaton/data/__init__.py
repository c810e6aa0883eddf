"""Text to work on: generated sentence pairs, with true links, tags and trees, of any size; and public corpora by name."""

from hyperbaton.data.generate import Generated, Language, generate
from hyperbaton.data.preparation import Preparation, Prepared, get_corpus
from hyperbaton.data.style import STYLES, Style

__all__ = ["STYLES", "Generated", "Language", "Preparation", "Prepared", "Style", "generate", "get_corpus"]
