"""The past of a node: its history, and its exact last change."""
