"""Orientation sets, one file each."""
