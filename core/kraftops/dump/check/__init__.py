"""Checks of partitions on disk, as Kafka would recover them: findings, and what is lost."""
