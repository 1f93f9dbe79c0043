"""`kafka-metadata-shell`: options, and the source that is browsed."""
