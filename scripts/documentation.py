"""Build the site of the documentation from `docs/` and the generated reference.

A warning is an error.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from shutil import copytree

import reference_pages
from command_tree import REPOSITORY

DOCS = REPOSITORY / "docs"
GENERATED = {
    "man": "reference/commands/index.md",
    "core/kraftops/findings/catalogue.toml": "reference/codes/index.md",
    "core/kraftops/json_schemas": "reference/schemas.md",
    "core/kraftops/arrow_schemas": "reference/columns.md",
    "core/kraftops/wire/config/client_properties.py": "reference/clients.md",
    "cli/kraftops_cli/syntax/chapters.py": "reference/exit-codes.md",
    "shell/kraftops_shell/grammar/registry.py": "reference/shell.md",
    "core/kraftops/__init__.pyi": "reference/library.md",
    "packaging/README.md": "packaging.md",
}
"""Pages of the site by what a link names in the repository, where they are made from it."""
_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:)([^)#\s]+)")


def site_link(page: str, link: str) -> str:
    """Return a link of a page of `docs/` as the site has it: generated pages for their sources.

    Raises:
        LookupError: it leads out of `docs/`, to nothing that is on the site.
    """
    above = len(PurePosixPath(page).parts) - 1
    target = (DOCS / page).parent.joinpath(link).resolve().relative_to(REPOSITORY)
    if target.is_relative_to("docs"):
        return link
    if target.as_posix() not in GENERATED:
        raise LookupError(f"docs/{page}: {link} is not on the site")
    return "../" * above + GENERATED[target.as_posix()]


def write_sources(folder: Path) -> None:
    """Write all pages, as Sphinx reads them."""
    copytree(DOCS, folder, dirs_exist_ok=True)
    for path in folder.rglob("*.md"):
        name = path.relative_to(folder).as_posix()
        path.write_text(
            _LINK.sub(lambda link, name=name: site_link(name, link[0]), path.read_text())
        )
    packaging = REPOSITORY / "packaging" / "README.md"
    texts = reference_pages.pages()
    if packaging.is_file():
        texts["packaging.md"] = re.sub(
            r"\[([^]]+)\]\((?!https?:)[^)]+\)", r"\1", packaging.read_text()
        )
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "words.json").write_text(json.dumps(reference_pages.words()))


def build(output: Path, builder: str) -> int:
    """Build the site; return Sphinx's exit code."""
    with tempfile.TemporaryDirectory() as name:
        write_sources(Path(name))
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
        return subprocess.run(
            [*command, "-d", f"{name}/.trees", name, output], check=False
        ).returncode


def main() -> int:
    """Build or check the site; return 1 after a warning."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY / "build" / "site")
    parser.add_argument("--check", action="store_true", help="read all pages, and write none")
    arguments = parser.parse_args()
    if not arguments.check:
        return build(arguments.folder, "html")
    with tempfile.TemporaryDirectory() as folder:
        return build(Path(folder), "dummy")


if __name__ == "__main__":
    sys.exit(main())
