"""`kafka-cluster`, with a module for each subcommand."""
