"""The state of a cluster as a read-only filesystem."""
