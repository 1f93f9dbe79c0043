"""From a line to its meaning: words, commands, arguments, paths, patterns."""
