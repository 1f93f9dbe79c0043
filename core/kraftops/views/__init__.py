"""Views: tables of the state of a cluster and of the records of its log."""
