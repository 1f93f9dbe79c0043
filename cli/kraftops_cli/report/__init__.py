"""`kraftops report`: an incident in one file."""
