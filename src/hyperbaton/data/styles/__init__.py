"""One file for each language style that text can be generated in; the file name is its name."""
