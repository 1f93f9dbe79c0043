"""Batches behind damage: where the next one begins."""
