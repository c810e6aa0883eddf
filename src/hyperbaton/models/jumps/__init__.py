"""Jump models with one weight per feature: their feature lists, in memory or in shards, and their training."""
