"""Where this copy of kraftops was installed from, and what to do to have more of it."""

import os
import sys
from dataclasses import dataclass
from functools import cache

BUNDLES = ("tree", "deb", "rpm")
"""What the builds in `packaging/` write as the installer: a tree with its own interpreter."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the installer noted (PEP 376, PEP 610).

    *place* is a path or a URL; "" if a package index was asked.
    """

    installer: str
    place: str = ""
    is_editable: bool = False

    @property
    def is_bundle(self) -> bool:
        """Tell whether it is one piece, to which pip adds nothing."""
        return self.installer in BUNDLES

    def __str__(self) -> str:
        if self.is_bundle:
            return f"the {self.installer} in {sys.prefix}"
        return (self.place or "a package index") + (", editable" if self.is_editable else "")

    def extra_remedy(self, extra: str) -> str:
        if self.is_bundle:
            return f"the {self.installer} has no {extra}: install the wheel of the release with it"
        quoted = f"{self.place or 'kraftops'}[{extra}]".replace("'", "'\\''")
        return f"pip install {'-e ' if self.is_editable else ''}'{quoted}'"

    def engine_remedy(self) -> str:
        if not self.place or self.place.endswith(".whl"):
            return "install the wheel for this platform"
        quoted = self.place.replace("'", "'\\''")
        again = f"{'-e ' if self.is_editable else ''}'{quoted}'"
        return f"install Rust, then pip install --force-reinstall --no-deps {again}"


@cache
def origin() -> Origin:
    """Read what the installer noted; takes 25 ms."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        package = distribution("kraftops")
    except PackageNotFoundError:  # a source tree in PYTHONPATH
        return Origin("", os.path.dirname(os.path.dirname(__file__)))
    noted = json.loads(package.read_text("direct_url.json") or "{}")
    url = urlsplit(noted.get("url", ""))
    return Origin(
        (package.read_text("INSTALLER") or "").strip(),
        unquote(url.path) if url.scheme == "file" else url.geturl(),
        bool(noted.get("dir_info", {}).get("editable")),
    )


def extra_remedy(extra: str) -> str:
    """Return the hint how to install an extra, by the way in which kraftops was installed."""
    return origin().extra_remedy(extra)
