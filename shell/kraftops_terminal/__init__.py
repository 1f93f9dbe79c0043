"""The terminal: properties of streams, theme, tables, and the escaper of strings from data."""
