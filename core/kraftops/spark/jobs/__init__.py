"""Plan splits and run work on them as jobs."""
