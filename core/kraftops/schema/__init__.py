"""Message tables as data, and functions compiled from them for each (message, version)."""
