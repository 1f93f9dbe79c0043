"""Configuration of a server: keys, values, listeners, and rules between keys."""
