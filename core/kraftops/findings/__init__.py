"""Findings: what is wrong with data, on one scale, with a catalogue of codes."""
