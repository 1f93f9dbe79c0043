"""The metadata shell: the words, paths and commands with which the tree is browsed."""
