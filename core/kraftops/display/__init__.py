"""Plain text for people: sizes, times and charts."""
