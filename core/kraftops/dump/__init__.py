"""The output of a dump: Kafka's text, rows and summaries of logs, indexes and snapshots."""
