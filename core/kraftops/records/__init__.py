"""Batches to meaning: which schema reads the bytes of a record."""
