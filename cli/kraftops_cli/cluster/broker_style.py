"""Styles of the states of brokers, in the terminal's theme."""

from __future__ import annotations

_STYLES = {
    "active": "good",
    "unfenced": "good",
    "fenced": "bad",
    "registered-fenced": "bad",
    "in-controlled-shutdown": "warning",
}


def state_style(state: str) -> str:
    """Return the style of a state; none for one that says nothing."""
    return _STYLES.get(state, "")
