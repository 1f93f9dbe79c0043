"""`kafka-storage`, one module a subcommand."""
