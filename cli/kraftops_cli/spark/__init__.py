"""`--spark`: options and the commands that run as jobs."""
