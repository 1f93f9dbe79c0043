"""Room on the disks of brokers: what takes it, how fast that grows, and why nothing is deleted."""
