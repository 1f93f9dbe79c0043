"""The columns that the logs of a summary are sorted by."""

BY_NAME = "topic"
"""Topics and partitions in their natural order; the other columns put the largest first."""
SORTS = (BY_NAME, "segments", "records", "bytes", "offset", "time", "damage")
