"""The metadata shell."""
