"""The commands `kraftops changes` and `kraftops incidents`."""
