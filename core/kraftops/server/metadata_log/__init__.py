"""The metadata log of a server: its files, and what a start reads of them."""
