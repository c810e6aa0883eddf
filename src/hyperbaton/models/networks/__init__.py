"""Networks that read a whole sentence: training with PyTorch, and the rows of words that they share."""
