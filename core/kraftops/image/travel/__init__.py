"""Travel through the states of a log: states are kept at intervals, and read on from there."""
