"""The rules by which the records of a metadata log change the state."""
