"""The state of a cluster's metadata: records replayed into an image, at any offset or time."""
