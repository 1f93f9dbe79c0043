"""Log directories on disk: identity, locks, metadata files."""
