"""Files: written whole or not at all, or block by block to a descriptor."""
