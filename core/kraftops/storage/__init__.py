"""Log directories: configuration, meta.properties, bootstrap records, formatting, inspection."""
