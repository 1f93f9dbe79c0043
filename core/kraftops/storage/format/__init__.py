"""Changes of log directories: formats, and rewrites of ids."""
