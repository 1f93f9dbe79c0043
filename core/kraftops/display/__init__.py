"""Plain text for people: numbers, times and charts."""
