"""A server's disk, and what Kafka's loader makes of it; settings and topics come in as values."""
