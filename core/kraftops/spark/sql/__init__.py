"""Logs as tables: the table `log` for SQL, and tables written by Spark."""
