"""Chapters of a manual, from a text beside the module of a command."""

from kraftops.fileio.packaged import packaged_text


def chapters(module: str, name: str) -> dict[str, str]:
    """Return the text of each chapter in a file by its title; each begins with `# TITLE`."""
    parts = f"\n{packaged_text(module, name)}".split("\n# ")[1:]
    titles_and_texts = (part.partition("\n") for part in parts)
    return {title: text.strip("\n") for title, _, text in titles_and_texts}
