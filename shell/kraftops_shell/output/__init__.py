"""Outlets of commands, and the form of their output on a terminal."""
