"""Grammar of lines: words, commands, arguments, paths, patterns."""
