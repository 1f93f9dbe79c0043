"""What a command answers, defined once: its JSON, the schema of that, tables and manual."""
