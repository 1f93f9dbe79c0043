"""The decoders, one module a kind of topic, and the two families that most belong to."""
