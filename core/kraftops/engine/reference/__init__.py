"""The engine in plain Python, for all that the native one leaves and where there is none."""
