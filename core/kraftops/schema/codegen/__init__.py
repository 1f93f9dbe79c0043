"""Generators of Python code for a message version: its reader, writer and renderer."""
