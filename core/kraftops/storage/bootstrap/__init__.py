"""First records of a new cluster: release, feature levels, voters, credentials."""
