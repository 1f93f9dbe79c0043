"""What a start makes of partitions and log directories: Kafka's loader, without its writes."""
