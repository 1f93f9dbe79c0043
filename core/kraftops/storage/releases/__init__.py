"""What the releases of Kafka know: features, keys and classes; and what an installation has."""
