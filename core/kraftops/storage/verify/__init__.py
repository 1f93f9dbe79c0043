"""Check whether a server would start, and its quorum and cluster with it."""
