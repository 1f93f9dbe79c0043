"""Logs as tables: the data source, its options, SQL, and written tables."""
