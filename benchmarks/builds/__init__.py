"""Two builds of the package, one against the other."""
