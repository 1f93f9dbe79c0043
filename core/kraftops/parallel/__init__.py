"""Do work in threads: tasks whose output keeps its order, and reading ahead."""
