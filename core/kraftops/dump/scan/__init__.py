"""Read parts of logs: Kafka's text, rows, or Arrow record batches."""
