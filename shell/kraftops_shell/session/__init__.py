"""What a session keeps: its place, its source, its history."""
