"""README and `docs/`: examples print what is shown, links and options exist, the site is whole."""

import re
import shlex
import sys
from functools import cache
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from command_tree import Tool, programs  # noqa: E402
from documentation import DOCS, write_sources  # noqa: E402
from examples import pages, run_again  # noqa: E402
from reference_pages import words  # noqa: E402

PAGES = pages()
README = (ROOT / "README.md").read_text("utf-8")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@each_page
def test_examples_print_what_is_shown(page: Path) -> None:
    assert run_again(page) == page.read_text("utf-8")


@each_page
def test_links_and_anchors_exist(page: Path) -> None:
    for path, anchor in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path}#{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_codes_in_brackets_exist(page: Path) -> None:
    codes = re.findall(r"`(\[[a-z][a-z-]+\])`", _FENCE.sub("", page.read_text("utf-8")))

    assert [code for code in codes if code not in words()] == []


@cache
def tools() -> dict[tuple[str, ...], Tool]:
    """Return all commands by their words."""
    return {tool.words: tool for program in programs() for tool in program.walk()}


@each_page
def test_commands_have_the_options_that_are_shown(page: Path) -> None:
    blocks = re.findall(
        r"^```(?:sh|console)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    for line in "".join(blocks).replace("\\\n", " ").splitlines():
        for part in re.split(r"\$\(| \| | && | \|\| |; ", line.removeprefix("$ ")):
            check_options(part)


def check_options(command: str) -> None:
    """Check that a command of ours knows its subcommand and its long options."""
    try:
        spelled = shlex.split(command, comments=True)
    except ValueError:  # a part of a longer line of the shell
        return
    if not spelled or (spelled[0],) not in tools():
        return
    most = max(n for n in (1, 2, 3) if tuple(spelled[:n]) in tools())
    tool = tools()[tuple(spelled[:most])]
    known = {name for param in tool.command.get_params(tool.context) for name in param.opts}
    is_shell = tool.words[-1].endswith("metadata-shell")  # its commands have options of their own
    is_group = isinstance(tool.command, click.Group)
    options = [word.partition("=")[0] for word in spelled[most:] if re.match(r"--[a-z]", word)]
    assert is_shell or is_group or [name for name in options if name not in known] == [], command


def test_readme_is_short() -> None:
    assert README.count("\n") <= 180


@pytest.mark.parametrize("heading", ["Run it", "Test it"])
def test_heading_has_one_command_of_one_line(heading: str) -> None:
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    fences = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)

    assert len(fences) == 1
    assert fences[0].count("\n") == 1


def test_each_guide_is_two_clicks_from_the_front_page() -> None:
    guides = (DOCS / "guides" / "index.md").read_text("utf-8")

    assert "(guides/index.md)" in (DOCS / "index.md").read_text("utf-8")
    for page in (DOCS / "guides").glob("*.md"):
        assert page.stem == "index" or f"({page.name})" in guides
        assert page.stem in {"index", "python"} or "**Decide first**" in page.read_text("utf-8")


def test_the_site_has_a_page_for_each_code_and_command(tmp_path: Path) -> None:
    write_sources(tmp_path)

    assert [page for page in words().values() if not (tmp_path / f"{page}.md").is_file()] == []


def test_small_cluster_is_small() -> None:
    assert (DOCS / "cluster.tar.gz").stat().st_size < 1_000_000
