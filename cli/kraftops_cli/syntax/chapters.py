"""Chapters of a manual, from a text beside the module of a command."""

from kraftops.fileio.packaged import packaged_parts


def chapters(module: str, name: str, **values: str) -> dict[str, str]:
    """Return the text of each chapter in a file by its title; each begins with `# TITLE`.

    *values* take the place of their names in braces.
    """
    texts = packaged_parts(module, name, "# ")
    for key, value in values.items():
        texts = {title: text.replace(f"{{{key}}}", value) for title, text in texts.items()}
    return {title: text.strip("\n") for title, text in texts.items()}
