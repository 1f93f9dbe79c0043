"""The directory of the file that kills who reads it."""

VICTIM_NAME = "victim"
