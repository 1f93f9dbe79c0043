"""The version of the form of all JSON answers."""

JSON_VERSION = 2
"""It changes when a field changes its meaning."""
