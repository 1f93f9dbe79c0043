"""Live clusters: connections, requests, and the metadata log as it grows."""
