"""A server's configuration: its keys, values, listeners and the rules between them."""
