"""What the files of a release were built of, as a statement of in-toto with SLSA's predicate."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

from dependencies import CRATE, REPOSITORY

_SOURCES = REPOSITORY / "packaging/sources.toml"
_LOCKS = (
    *(REPOSITORY / "requirements.lock", REPOSITORY / CRATE / "Cargo.lock", _SOURCES),
    *(REPOSITORY / "packaging" / name for name in ("tree.lock", "builders.lock")),
)


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def statement(files: Iterable[Path], commit: str) -> str:
    """Return the statement about files, the same text for the same files."""
    sources = tomllib.loads(_SOURCES.read_text("utf-8")).values()
    materials = {source["file"]: {"sha256": source["sha256"]} for source in sources}
    materials |= {str(lock.relative_to(REPOSITORY)): {"sha256": sha256(lock)} for lock in _LOCKS}
    materials["commit"] = {"gitCommit": commit}
    definition = {
        "buildType": "scripts/release.py",
        "externalParameters": {"commit": commit},
        "resolvedDependencies": _named(materials),
    }
    content = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": _named({file.name: {"sha256": sha256(file)} for file in files}),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"buildDefinition": definition, "runDetails": {"builder": {"id": "local"}}},
    }
    return json.dumps(content, indent=2) + "\n"


def _named(digests: dict[str, dict[str, str]]) -> list[dict[str, object]]:
    return [{"name": name, "digest": digest} for name, digest in sorted(digests.items())]
