"""Work in threads: ordered pools, prefetching, background calls."""
