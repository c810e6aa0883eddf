"""The aligners, one to a file; the file name is the name of the aligner."""
