"""Comparison of two builds of the package."""
