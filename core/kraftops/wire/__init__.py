"""Live clusters: connections, what can be asked over them, and the metadata log as it grows."""
