"""Cost per sentence pair of every stage, by the size of the text."""
