"""Rows of the registry, a module for each group of commands."""
