"""`--spark`: its options, and the progress of its jobs."""
