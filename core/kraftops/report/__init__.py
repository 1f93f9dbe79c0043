"""The report of an incident: what logs tell about a span of time, as one document."""
