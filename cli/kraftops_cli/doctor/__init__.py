"""The commands `kraftops doctor`, `explain` and `disk`."""
