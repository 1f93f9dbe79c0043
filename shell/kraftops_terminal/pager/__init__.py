"""The pager: output that is longer than a screen, one screen at a time."""
