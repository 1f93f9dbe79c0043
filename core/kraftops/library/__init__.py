"""What `import kraftops` offers beside `scan` and `load`: the questions of the commands."""
