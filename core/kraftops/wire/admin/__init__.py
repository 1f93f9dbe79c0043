"""Requests of an administrator: where replicas are, reassignments, configurations, elections."""
