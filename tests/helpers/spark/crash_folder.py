"""Name of the directory with the file that kills its reader."""

CRASH_FOLDER = "crashing"
