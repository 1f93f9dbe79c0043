"""The commands of views: tables of the state, and of the records of the log."""
