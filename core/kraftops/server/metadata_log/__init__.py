"""The metadata log of a server: its files, the records in them, and how two logs compare."""
