"""Dump, check and count logs as jobs, and write the output's parts."""
