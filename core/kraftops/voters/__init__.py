"""The voters of a running quorum: who they are, and their changes one at a time."""
