"""Replay a metadata log in shards, and search each."""
