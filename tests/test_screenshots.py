"""The screenshots in the documentation show what the commands print."""

import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "scripts"))

import screenshots  # noqa: E402 - the scripts are no package


@pytest.mark.parametrize("name", screenshots.SHOTS)
def test_screenshot_has_the_words_that_the_command_prints(name: str) -> None:
    shot = screenshots.SHOTS[name]
    kept = screenshots.path_of(name).read_text("utf-8")

    assert screenshots.words(kept) == screenshots.words(
        screenshots.svg(shot, screenshots.printed(shot))
    )
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    assert any(f"pictures/{name}.svg" in page.read_text("utf-8") for page in pages)
