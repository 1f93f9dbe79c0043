"""Definitions of messages that kafka-python lacks, in its own format."""
