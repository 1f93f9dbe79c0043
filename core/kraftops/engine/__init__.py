"""The seam on the bytes of records: contracts, and two engines that keep them.

`scan_contract`, `fold_contract` and `index_contract` say what an engine does with batches. `native`
and `native_fold` use the compiled engine, `reference` is the same in plain Python, and `choice` and
`scanning` take the one that is there.
"""
