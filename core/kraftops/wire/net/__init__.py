"""Bytes over TCP and TLS: addresses, deadlines, frames, message codec."""
