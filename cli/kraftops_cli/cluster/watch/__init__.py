"""The screen of `kafka-cluster describe --watch`: its state, what happens, and how it is drawn."""
