"""The metadata shell: grammar, commands, output and the interactive loop."""
