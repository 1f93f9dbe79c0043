"""`kafka-dump-log`: options, filters, and the run of a dump."""
