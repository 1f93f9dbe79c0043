"""The one seam on the bytes of records: a contract, and two engines that keep it.

`contract` says what an engine does with batches, `native` is the compiled one, `reference` the same
in plain Python, and `choice` takes the one that is there.
"""
