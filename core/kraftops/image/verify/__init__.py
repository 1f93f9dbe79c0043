"""Checks of a metadata log against a release, its replicas and directories on disk."""
