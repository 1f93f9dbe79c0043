"""Archives of directories, tar or zip: their members, and how they are read in place."""
