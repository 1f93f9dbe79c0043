"""Standard streams and progress."""
