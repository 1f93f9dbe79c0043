"""Tiered segments: what `__remote_log_metadata` says of them, and where they hold an offset."""
