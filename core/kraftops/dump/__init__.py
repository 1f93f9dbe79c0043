"""What a dump prints: the text of Kafka's tool, made from batches, indexes and snapshots."""
