"""The command line: one module a tool, over the library `kraftops`."""
