"""Files to batches and back: framing of magic 0, 1 and 2, codecs, indexes, producer snapshots."""
