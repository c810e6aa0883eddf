"""Generated text: sentence pairs from a small transfer grammar, with true links, tags and trees, of any size."""

from hyperbaton.data.generate import Generated, Language, generate
from hyperbaton.data.style import Style, styles

__all__ = ["Generated", "Language", "Style", "generate", "styles"]
