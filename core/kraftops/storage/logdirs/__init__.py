"""Log directories as they are on disk: identity, locks, metadata files."""
