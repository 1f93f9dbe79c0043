"""Checks before the start of a server: its directories, its quorum, its cluster."""
