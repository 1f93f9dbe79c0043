"""The interactive shell: editing, completion, the loop, in both forms."""
