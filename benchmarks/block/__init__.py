"""The joint block model on real text."""
