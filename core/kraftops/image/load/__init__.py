"""Loading of images from files, pre-scan, and following a log."""
