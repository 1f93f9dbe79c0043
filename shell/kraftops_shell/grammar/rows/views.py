"""Tables of the cluster, and the questions that they answer."""

from __future__ import annotations

from kraftops_shell.grammar.command import Command

ROWS: tuple[Command, ...] = ()
