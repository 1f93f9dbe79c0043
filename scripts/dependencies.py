"""What kraftops is made of: Rust crates, JavaScript on the page of a report, Python packages."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parent.parent
CRATE = Path("core/native")
_UPLOT = Path("core/kraftops/report/page/uplot/uPlot.iife.min.js")
_CLASSIFIERS = {  # of packages that do not say it in SPDX's words
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "License :: OSI Approved :: MIT License": "MIT",
}
_TEXTS = {"3-Clause BSD License": "BSD-3-Clause"}


@dataclass(frozen=True, slots=True, order=True)
class Component:
    """A part with its licence, an SPDX expression, and the SHA-256 of its source if it is known."""

    kind: str
    """The type of a package URL: `cargo`, `npm` or `pypi`."""
    name: str
    version: str
    licence: str
    sha256: str = ""
    needs: tuple[str, ...] = ()
    """The package URLs of those that it uses."""

    @property
    def url(self) -> str:
        """The package URL (ECMA-427)."""
        return f"pkg:{self.kind}/{self.name}@{self.version}"


def linked_crates(told: str, lock: str) -> list[Component]:
    """Return the crates that are linked into the engine, without the engine itself.

    Args:
        told: the output of `cargo metadata`, with `--filter-platform`.
        lock: the text of Cargo.lock, for the checksums.
    """
    found: dict[str, Any] = json.loads(told)
    packages = {one["id"]: one for one in found["packages"]}
    nodes = {one["id"]: one for one in found["resolve"]["nodes"]}
    checksums = {
        (one["name"], one["version"]): one.get("checksum", "")
        for one in tomllib.loads(lock)["package"]
    }

    def url(key: str) -> str:
        return f"pkg:cargo/{packages[key]['name']}@{packages[key]['version']}"

    def linked(key: str) -> list[str]:
        return [
            dep["pkg"]
            for dep in nodes[key]["deps"]
            if any(kind["kind"] is None for kind in dep["dep_kinds"])
            and not any("proc-macro" in each["kind"] for each in packages[dep["pkg"]]["targets"])
        ]

    todo, seen = linked(found["resolve"]["root"]), set[str]()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            todo += linked(key)
    return sorted(
        Component(
            kind="cargo",
            name=packages[key]["name"],
            version=packages[key]["version"],
            licence=_expression(packages[key]["license"]),
            sha256=checksums[packages[key]["name"], packages[key]["version"]],
            needs=tuple(sorted(map(url, linked(key)))),
        )
        for key in seen
    )


def every_crate() -> list[Component]:
    """Return all crates that a build may use, on any platform.

    Raises:
        OSError, CalledProcessError: there is no cargo, or it fails.
    """
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=REPOSITORY / CRATE, stdout=subprocess.PIPE, check=True)
    return sorted(
        Component("cargo", one["name"], one["version"], _expression(one["license"]))
        for one in json.loads(done.stdout)["packages"]
    )


def _expression(licence: str | None) -> str:
    return (licence or "").replace("/", " OR ")


def page_scripts(root: Path) -> list[Component]:
    """Return the JavaScript of others in our package."""
    text = (root / _UPLOT).read_text("utf-8")
    version = re.search(r"uPlot \(v([\d.]+)\)", text[:200])
    return [Component("npm", "uplot", version[1] if version else "", "MIT")]


def packages(extras: Iterable[str]) -> list[Component]:
    """Return the Python packages that kraftops needs with *extras*, as they are installed here.

    Raises:
        PackageNotFoundError: one is not.
    """
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found: dict[str, Component] = {}
    extras_of: dict[str, frozenset[str]] = {}
    todo = [(Requirement(one), frozenset({""})) for one in wanted]
    while todo:
        requirement, environments = todo.pop()
        name = canonicalize_name(requirement.name)
        inner = extras_of.get(name, frozenset[str]()) | {"", *requirement.extras}
        if inner == extras_of.get(name) or not _applies(requirement, environments):
            continue
        extras_of[name] = inner
        installed = metadata.distribution(name)
        needs = [Requirement(one) for one in installed.requires or ()]
        todo += [(one, inner) for one in needs]
        urls = (
            f"pkg:pypi/{canonicalize_name(one.name)}@{metadata.version(one.name)}"
            for one in needs
            if _applies(one, inner)
        )
        found[name] = Component(
            "pypi", name, installed.version, licence_of(installed), needs=tuple(sorted(set(urls)))
        )
    return sorted(found.values())


def packages_in(site: Path) -> list[Component]:
    """Return the Python packages in a directory, without our own."""
    return sorted(
        Component("pypi", canonicalize_name(package.name), package.version, licence_of(package))
        for package in metadata.distributions(path=[str(site)])
        if package.name != "kraftops"
    )


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": one}) for one in extras)


def licence_of(installed: metadata.Distribution) -> str:
    """Return the licence of an installed package as an SPDX expression; "" if it says none."""
    said: Any = installed.metadata  # its type lacks `get` in Python 3.11
    if expression := said.get("License-Expression"):
        return str(expression)
    named = [_CLASSIFIERS[one] for one in said.get_all("Classifier") or () if one in _CLASSIFIERS]
    text = _TEXTS.get(str(said.get("License")), str(said.get("License") or ""))
    short = text if re.fullmatch(r"[\w.+-]+", text) else ""
    return " AND ".join(dict.fromkeys(named)) or short
