"""Jump models with one weight per feature: their feature lists and their training."""
