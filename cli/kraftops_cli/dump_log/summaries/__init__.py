"""Summaries for people: all about one log, and a table of several."""
