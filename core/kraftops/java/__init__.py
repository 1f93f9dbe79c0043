"""Java's rules, byte for byte: text, numbers, hosts, properties, base64, order of hash tables."""
