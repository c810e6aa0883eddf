"""The three shapes of reordering models: their base classes, and how a model is stored and trained."""
