"""Change log directories: format them, or rewrite their ids."""
