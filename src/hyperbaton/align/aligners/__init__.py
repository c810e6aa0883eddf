"""The aligners, one per file; the file name is the name of the aligner."""
