"""Recovery of a lost quorum: choose a log, list what it lacks, append a batch with new voters."""
