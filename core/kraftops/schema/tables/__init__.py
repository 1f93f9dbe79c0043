"""Message tables, a module for each log, in the notation of `kraftops.schema.message`."""
