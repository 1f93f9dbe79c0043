"""`--controllers`: reading a running quorum instead of files."""
