"""Message tables, one module a log; `kraftops.schema.message` has their notation."""
