"""Parts of the block model: its questions, its vocabularies, and the table of blocks."""
