"""Standard streams, answers and progress."""
