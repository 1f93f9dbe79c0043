"""Load an image from files: find them, scan them, keep the image current."""
