"""The screen of `--summary --follow`: counts of logs that grow."""
