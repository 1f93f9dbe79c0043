"""Replay of batches into a fold, with events."""
