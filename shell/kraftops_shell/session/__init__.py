"""The state of a session: working directory, image, history, console."""
