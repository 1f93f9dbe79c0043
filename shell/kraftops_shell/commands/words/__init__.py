"""Words of a session: scripts, repetition, settings, the terminal."""
