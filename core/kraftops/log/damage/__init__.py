"""Batches after damage: where the next one begins."""
