"""The question and its answer as plain data: query, filters, and the row."""
