"""Client properties, as Kafka's Java clients take them."""
