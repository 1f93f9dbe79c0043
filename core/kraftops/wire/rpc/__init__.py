"""Connections that are ready to be asked, and the requests to a cluster."""
