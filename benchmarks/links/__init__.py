"""Word links, and the tables and systems built from them."""
