"""Standard streams and answers."""
