"""The engine in plain Python, for batches that the compiled one declines, and without it."""
