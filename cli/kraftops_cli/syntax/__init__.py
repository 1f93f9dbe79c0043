"""Command classes on Click, and the argument syntaxes of Kafka's parsers."""
