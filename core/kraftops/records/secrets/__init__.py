"""Secrets of records: which fields and which values of configurations are secret."""
