"""Chapters of a manual, from a text beside the module of a command."""

from kraftops.fileio.packaged import packaged_text


def chapters(module: str, name: str, **values: str) -> dict[str, str]:
    """Return the text of each chapter in a file by its title; each begins with `# TITLE`.

    *values* take the place of their names in braces.
    """
    text = packaged_text(module, name)
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    titles_and_texts = (part.partition("\n") for part in f"\n{text}".split("\n# ")[1:])
    return {title: body.strip("\n") for title, _, body in titles_and_texts}
