"""`kafka-dump-log --spark`: a dump as jobs, SQL, and `--dry-run`."""
