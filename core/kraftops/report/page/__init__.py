"""The page of a report: one HTML file with its data, charts and script."""
