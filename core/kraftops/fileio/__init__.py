"""Write files: whole or not at all, or piece by piece to a descriptor."""
