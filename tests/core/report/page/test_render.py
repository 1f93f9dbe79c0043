"""The file of a report: one document, its policy, and data that stays data."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from kraftops.report.page.render import SCRIPT, embedded_json, page, script

SAMPLE = json.loads((Path(__file__).parents[3] / "data/report/sample.json").read_text("utf-8"))
PAGE = files("kraftops.report.page")
UPLOT = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}
"""The files of uPlot 1.6.32, as its authors published them."""
NASTY = "</script><!--<script>\u202e\u2028\x00\x1b[31m&\"'\ud800é"


class Elements(HTMLParser):
    """The elements of a page: tags, attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._is_inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style", "title"}:
            self.texts.append((tag, ""))

            self._is_inside = True

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            tag, text = self.texts[-1]
            self.texts[-1] = tag, text + data


def policy(elements: Elements) -> dict[str, list[str]]:
    """Return the content security policy of a page, by directive."""
    (content,) = [
        attributes["content"]
        for tag, attributes in elements.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert content is not None
    words = [directive.split() for directive in content.split(";")]
    return {name: values for name, *values in words}


def test_policy_allows_what_is_in_the_page_and_nothing_else() -> None:
    elements = Elements(page(SAMPLE))

    found = policy(elements)

    def hashes(wanted: str) -> list[str]:
        texts = [text for tag, text in elements.texts if tag == wanted]
        own = texts[1:] if wanted == "script" else texts  # the first script is the data
        return [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in own]

    assert found["default-src"] == ["'none'"]
    assert found["script-src"] == hashes("script")
    assert found["style-src"] == hashes("style")
    assert len(found["script-src"]) == 2
    assert not any("unsafe" in word or "http" in word for words in found.values() for word in words)


def test_page_has_no_address_no_handler_and_no_style_in_attributes() -> None:
    for tag, attributes in Elements(page(SAMPLE)).tags:
        assert tag not in {"img", "iframe", "object", "embed", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {"src", "style", "srcdoc", "action"}
            assert name != "href" or (value or "").startswith(("#", "data:"))


def test_data_is_in_the_page_as_it_is() -> None:
    document = {**SAMPLE, "title": NASTY}

    elements = Elements(page(document))

    data = next(text for tag, text in elements.texts if tag == "script")
    assert json.loads(data) == document
    assert not set("<>&\u2028\u2029") & set(data)
    assert data.isascii()


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "]]>", "&lt;", "\u2028", "\ud800"])
def test_embedded_json_has_no_markup(text: str) -> None:
    found = embedded_json({"a": [text], text: 1})

    assert json.loads(found) == {"a": [text], text: 1}
    assert re.fullmatch(r'[ !"#-%\'-;=?-~]+', found)


def test_title_is_text() -> None:
    """Also one with bytes that are not UTF-8: the file can be written."""
    text = page({**SAMPLE, "title": NASTY})

    text.encode()
    elements = Elements(text)
    (title,) = [text for tag, text in elements.texts if tag == "title"]
    assert title.startswith("</script><!--<script>")
    assert elements.tags == Elements(page({**SAMPLE, "title": "a title"})).tags


def test_page_adds_little_to_its_data() -> None:
    assert len(page(SAMPLE)) - len(embedded_json(SAMPLE)) < 160_000


def test_uplot_is_what_its_authors_published() -> None:
    found = {name: sha256((PAGE / "uplot" / name).read_bytes()).hexdigest() for name in UPLOT}

    assert found == UPLOT
    licence = (PAGE / "uplot/LICENSE").read_text("utf-8")
    assert "MIT License" in licence
    assert licence in page(SAMPLE)


def test_script_is_correct_and_parses_no_markup(tmp_path: Path) -> None:
    text = script()

    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text)
    assert not re.search(
        r"fetch\(|XMLHttpRequest|WebSocket|https?://(?!www\.w3\.org/2000/svg)", text
    )
    node = shutil.which("node")
    if node is None:
        pytest.skip("its syntax is checked with node, which is not there")
    path = tmp_path / "script.js"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([node, "--check", str(path)], check=False, timeout=60)
    assert done.returncode == 0


def test_script_has_all_of_its_parts() -> None:
    files = {each.name for each in (PAGE / "script").iterdir()}

    assert files == {f"{name}.js" for name in SCRIPT}
