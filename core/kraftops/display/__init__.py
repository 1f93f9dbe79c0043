"""Plain text for people: tables and times."""
