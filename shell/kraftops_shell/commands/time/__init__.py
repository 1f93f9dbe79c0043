"""Commands that move a session through time, and tell of changes."""
