"""What tasks of an executor cost."""
