"""All checks that apply to nodes and clusters, joined by cause; and the page of each code."""
