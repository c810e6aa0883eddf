"""Foundations used by every other folder: errors, options, registries, artefacts, progress."""
