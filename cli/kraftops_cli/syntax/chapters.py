"""Chapters of a manual, from a text beside the module of a command."""

from collections.abc import Iterator

from kraftops.fileio.packaged import packaged_text


def chapters(module: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each chapter in a file, which begins with `# TITLE`."""
    for chapter in f"\n{packaged_text(module, name)}".split("\n# ")[1:]:
        title, _, text = chapter.partition("\n")
        yield title, text.strip("\n")
