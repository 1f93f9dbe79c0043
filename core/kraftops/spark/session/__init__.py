"""Spark itself: find Java, start or join a session, ship our code, translate failures."""
