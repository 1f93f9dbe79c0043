"""Read what KRaft Kafka writes: segments, snapshots, indexes, and the records in them."""
