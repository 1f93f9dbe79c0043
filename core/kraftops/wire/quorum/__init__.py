"""The metadata log of a running quorum: leader, snapshot, log, and the image kept current."""
