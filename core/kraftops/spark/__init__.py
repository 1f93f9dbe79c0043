"""Distribution on Spark, never decoding: the data source, and the jobs that dump and find."""
