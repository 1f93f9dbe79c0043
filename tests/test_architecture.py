"""The page ARCHITECTURE.md agrees with the code: packages, rooms, modules, names and rows."""

import re
from pathlib import Path

from tests.helpers.project.imports import REPOSITORY, ROWS, modules, packages

PAGE = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
CODE = {word for word in re.findall(r"`([^`\n]+)`", PAGE) if " " not in word}
"""All text in the style of code, without commands."""
FOLDERS = {
    "terminal": "shell/kraftops_terminal",
    "shell": "shell/kraftops_shell",
    "cli": "cli/kraftops_cli",
}
"""Folders of packages by their short names on the page; other paths begin in the library."""


def paths_of(word: str) -> list[Path]:
    """Return the paths that a word of the page can mean."""
    top, _, rest = word.partition("/")
    folder = Path(FOLDERS[top], rest) if top in FOLDERS else Path("core/kraftops", word)
    return [REPOSITORY / folder, REPOSITORY / word]


def short_name(package: str) -> str:
    """Return the path of a package as the page writes it."""
    folder = str(modules()[package].parent.relative_to(REPOSITORY))
    for short, long in FOLDERS.items():
        folder = re.sub(f"^{long}", short, folder)
    return folder.removeprefix("core/kraftops/") + "/"


def test_paths_on_the_page_exist() -> None:
    words = {word for word in CODE if re.fullmatch(r"[\w./]+/[\w./]*", word)}

    assert len(words) > 100
    assert [word for word in words if not any(path.exists() for path in paths_of(word))] == []


def test_every_package_and_room_is_on_the_page() -> None:
    names = {short_name(package) for package in packages() - {"kraftops"}}

    assert len(names) > 40
    assert names - CODE == set()


def test_classes_and_functions_on_the_page_are_defined() -> None:
    words = {word for word in CODE if re.fullmatch(r"[A-Z]\w*[a-z]\w*|[a-z_]\w*\(\)", word)}
    code = "\n".join(path.read_text("utf-8") for path in modules().values())
    defined = set(re.findall(r"^ *(?:class|def) (\w+)", code, re.MULTILINE))

    assert len(words) > 10
    assert {word.removesuffix("()") for word in words} - defined == set()


def test_rows_on_the_page_are_those_of_the_import_test() -> None:
    rows = re.findall(r"^\| \d+ \| (.*) \|$", PAGE, re.MULTILINE)

    assert [tuple(re.findall(r"`(\w+)(?:\.py|/)`", names)) for names in rows] == list(ROWS)


def test_walks_go_from_the_command_line_into_the_library() -> None:
    walks = PAGE.split("## Walks")[1].split("\n**")[1:]

    assert len(walks) == 4
    for walk in walks:
        words = re.findall(r"`([\w/]+\.py)`", walk)
        assert words[0] == "cli/main.py"
        assert len([word for word in words if word.split("/")[0] not in FOLDERS]) > 5
