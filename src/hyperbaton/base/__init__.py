"""What every other folder stands on: errors, options, registry, store, progress."""
