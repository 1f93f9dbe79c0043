"""The state of a cluster's metadata, and the findings about it."""
