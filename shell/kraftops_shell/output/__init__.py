"""Where the output of a command goes, and its form on a terminal."""
