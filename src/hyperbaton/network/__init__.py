"""Networks that encode whole sentences: rows of embeddings for words, and training with PyTorch."""
