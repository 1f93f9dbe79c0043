"""The inputs of a dump: files and patterns by name, and the parts they are read in."""
