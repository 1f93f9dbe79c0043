"""The commit that this copy of kraftops was built from."""

import os
import re
from functools import cache

FILE = "commit.txt"
"""Written beside this module when a wheel is built."""
_HERE = os.path.dirname(__file__)
_REPOSITORY = os.path.join(_HERE, "..", "..", ".git")
_OURS = os.path.join(_HERE, "..", "native", "Cargo.toml")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@cache
def commit_id() -> str | None:
    """Return the id of the commit; None where neither the build nor a repository tells it."""
    built = _id_in(os.path.join(_HERE, FILE))
    if built or not os.path.exists(_OURS):  # another repository may be above an installed package
        return built
    return head_of(_REPOSITORY)


def head_of(git_directory: str) -> str | None:
    """Return the id of a repository's present commit, read without git; None if there is none."""
    head = _text(os.path.join(git_directory, "HEAD")).strip()
    if not head.startswith("ref: "):
        return head if _ID.fullmatch(head) else None
    name = head.removeprefix("ref: ")
    if commit := _id_in(os.path.join(git_directory, *name.split("/"))):
        return commit
    lines = _text(os.path.join(git_directory, "packed-refs")).splitlines()
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), None)


def _id_in(path: str) -> str | None:
    text = _text(path).strip()
    return text if _ID.fullmatch(text) else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
