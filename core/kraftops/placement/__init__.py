"""Placement of replicas on brokers: plans of moves, and what a stopped broker would do to them."""
