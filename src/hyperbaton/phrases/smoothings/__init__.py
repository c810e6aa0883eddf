"""Smoothings of phrase probabilities, one file each."""
