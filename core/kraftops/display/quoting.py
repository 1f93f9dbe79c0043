"""Words of a shell, for commands that people paste."""

import os
import shlex
import string
from collections.abc import Iterable
from contextlib import suppress

_PLAIN = frozenset(b"/.-_" + (string.ascii_letters + string.digits).encode())
"""Bytes that printf and a shell take as they are."""


def quote(text: str) -> str:
    """Return one word of a POSIX shell.

    What a terminal would escape, or act on, is written out in octal: quotes alone do not keep it.
    """
    with suppress(UnicodeEncodeError):  # of surrogates that no file name has
        if not text.isprintable():
            octal = (chr(b) if b in _PLAIN else f"\\{b:03o}" for b in os.fsencode(text))
            return f"\"$(printf '{''.join(octal)}')\""
    return shlex.quote(text)


def quote_path(path: str) -> str:
    """Return a path as a word, which is never taken for an option."""
    return quote(os.path.join(os.curdir, path) if path.startswith("-") else path)


def join(words: Iterable[str]) -> str:
    return " ".join(map(quote, words))
