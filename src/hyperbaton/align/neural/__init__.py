"""The networks of the aligner `neural`, trained with PyTorch."""
