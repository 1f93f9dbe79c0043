"""The command browse: the tree on a full screen."""
