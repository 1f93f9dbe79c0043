"""The page of a report: one file that asks no network for anything, and trusts no text of its data.

The data of the report stands in the page once, as JSON in a block that is not a script. The page's
script shows it with text nodes alone. A content security policy allows the scripts and the style
of the page by their hashes, and nothing else: no other script, no handler in an attribute, no
address.
"""

import json
import os
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from string import Template
from typing import Any

from kraftops.fileio.directories import errors_with_path

CHARTS, CHARTS_LICENCE = "uplot/uPlot.iife.min.js", "uplot/LICENSE"
SCRIPT = (
    "texts",
    "elements",
    "tables",
    "sections",
    "log_sections",
    "charts",
    "series",
    "panels",
    "timeline_tables",
    "timeline",
    "start",
)
"""The parts of the page's script, in the folder `script`, which share a scope."""
STYLES = ("uplot/uPlot.min.css", "page.css")
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""Characters of JSON that markup could begin with; U+2028 and U+2029 are not ASCII anyway."""


def page(document: Mapping[str, Any]) -> str:
    """Return the HTML of a report with the data *document*, as in report.v2.json."""
    scripts = [f"/*!\n{_file(CHARTS_LICENCE)}\n*/\n{_file(CHARTS)}", script()]
    style = "".join(_file(name) for name in STYLES)
    return Template(_file("page.html")).substitute(
        title=escape(_printable(document["title"])),
        policy=escape(_policy(scripts, style)),
        style=style,
        charts=scripts[0],
        script=scripts[1],
        data=embedded_json(document),
    )


def script() -> str:
    """Join the page's JavaScript files into one strict-mode script."""
    parts = "\n".join(_file(f"script/{name}.js") for name in SCRIPT)
    return f'"use strict";\n\n(() => {{\n{parts}\n}})();\n'


def embedded_json(document: Mapping[str, Any]) -> str:
    """Return *document* as JSON in ASCII that contains no markup and stays in its element."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _printable(title: str) -> str:
    """Return a title that can be encoded, also one from bytes that are not UTF-8."""
    return title.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _policy(scripts: list[str], style: str) -> str:
    """Return the content security policy: this page's scripts and style, and nothing else.

    Trusted types (https://www.w3.org/TR/trusted-types/) forbid the script to parse markup.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    from hashlib import sha256

    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    with errors_with_path(path), open(path, encoding="utf-8") as file:
        return file.read()
