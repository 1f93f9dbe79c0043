"""The catalogue of findings: what each code means, what Kafka does, and what to do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from kraftops.findings.finding import Severity


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A row of the catalogue.

    Attributes:
        code: it never changes its meaning.
        severity: the usual one; a finding can be milder or worse.
        tools: who finds it: `check`, `verify`, `shell`, `report`, `recover` or `doctor`.
        title: a few words.
        meaning: what is the case.
        kafka: what Kafka does, with the class and the release where that was seen.
        action: what to do.
        proof: how to be sure.
    """

    code: str
    severity: Severity
    tools: tuple[str, ...]
    title: str
    meaning: str
    kafka: str
    action: str
    proof: str


@cache
def catalogue() -> Mapping[str, CatalogueRow]:
    """Return the rows by code, in the order of the file."""
    rows = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))
    return MappingProxyType({code: _row(code, **fields) for code, fields in rows.items()})


def _row(code: str, severity: str, tools: list[str], **texts: str) -> CatalogueRow:
    return CatalogueRow(code, Severity(severity), tuple(tools), **texts)
