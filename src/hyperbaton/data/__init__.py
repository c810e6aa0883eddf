"""Generated text: sentence pairs from a small transfer grammar, with true links, tags and trees, of any size."""

from hyperbaton.data.generate import Generated, Language, generate
from hyperbaton.data.style import STYLES, Style

__all__ = ["STYLES", "Generated", "Language", "Style", "generate"]
