"""Parts of the data source: its options, pushed filters, and columns."""
