"""The site of the documentation, which `scripts/documentation.py` builds with Sphinx and Furo."""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

project = "kraftops"
html_title = "kraftops"
extensions = ["myst_parser"]
myst_heading_anchors = 3
smartquotes = False  # commands in a text can be pasted
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
nitpicky = True
_LINK = re.compile(r"\]\(([^)#:]+\.md)\)")
_WORDS = json.loads((Path(__file__).parent / "words.json").read_text())
"""Pages by codes in brackets and by commands: scripts/documentation.py writes them."""
_MENDED_TAGS = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="Contents of this page">',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}


def add_contents(_: Sphinx, name: str, source: list[str]) -> None:
    """Make the links of a list of pages its table of contents: Markdown has no other."""
    if name.rpartition("/")[2] in {"index", "install", "reference"}:
        pages = dict.fromkeys(_LINK.findall(source[0]))
        if name == "index":  # the pages of a folder are below its own index
            pages = {page: None for page in pages if "/" not in page or page.endswith("/index.md")}
        source[0] += "\n```{toctree}\n:hidden:\n" + "\n".join(pages) + "\n```\n"


def link_words(app: Sphinx, tree: nodes.document) -> None:
    """Link codes and commands in texts to their pages."""
    here = app.env.docname
    for literal in [*tree.findall(nodes.literal)]:
        page = _page_of(literal.astext())
        inside = (nodes.reference, nodes.title, addnodes.pending_xref)
        if page and page != here and not isinstance(literal.parent, inside):
            link = addnodes.pending_xref(
                "", refdomain="std", reftype="doc", reftarget=f"/{page}", refdoc=here,
                refexplicit=True, refwarn=True,
            )  # fmt: skip
            literal.replace_self(link)
            link += literal


def _page_of(text: str) -> str | None:
    words = text.split()
    for count in (3, 2, 1):
        page = _WORDS.get(" ".join(words[:count]))
        if page:
            return str(page)
    return None


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Add what axe misses in Furo's pages: names of landmarks, and keys for blocks that scroll."""
    if error is None:
        for path in Path(app.outdir).rglob("*.html"):
            text = path.read_text("utf-8")
            for tag, mended in _MENDED_TAGS.items():
                text = text.replace(tag, mended)
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    """Connect all to the build."""
    app.connect("source-read", add_contents)
    app.connect("doctree-read", link_words)
    app.connect("build-finished", mend_pages)
