"""The doctor: all checks that apply, joined by cause; and the page of each code."""
