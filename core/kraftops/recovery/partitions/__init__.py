"""Partitions on the disks of brokers, and what a recovery of the metadata would do to them."""
