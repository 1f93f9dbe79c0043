"""`kafka-cluster`, one module a subcommand."""
