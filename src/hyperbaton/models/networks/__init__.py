"""Networks that encode whole sentences: training with PyTorch, and their common word rows."""
