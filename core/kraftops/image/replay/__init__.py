"""Apply batches of records to a state, and emit what they did."""
