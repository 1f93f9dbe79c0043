"""Check a metadata log against a release, its replicas and the directories on disk."""
