"""What Java does, byte for byte: text, properties files, base64, the order of its hash tables."""
