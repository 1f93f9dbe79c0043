"""The directory of the file that kills who reads it."""

CRASH_FOLDER = "crashing"
