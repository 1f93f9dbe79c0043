"""Subcommands of `kafka-cluster` that move replicas and leaders, or say whether a stop is safe."""
