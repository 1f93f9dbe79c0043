"""Logs as a stream: how far each is read, what has come since, and the batches of Spark."""
