"""Definitions of requests and answers that kafka-python has none of, in the form of its own."""
