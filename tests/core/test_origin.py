"""Hints name what kraftops was installed from."""

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from unittest.mock import Mock

import pytest

from kraftops.origin import Origin, origin


@pytest.mark.parametrize(
    ("installed", "place", "extra", "engine"),
    [
        (
            Origin("pip", "/src/o'k", is_editable=True),
            "/src/o'k, editable",
            r"pip install -e '/src/o'\''k[arrow]'",
            r"install Rust, then pip install --force-reinstall --no-deps -e '/src/o'\''k'",
        ),
        (
            Origin("pip", "/mnt/kraftops-1-py3-none-any.whl"),
            "/mnt/kraftops-1-py3-none-any.whl",
            "pip install '/mnt/kraftops-1-py3-none-any.whl[arrow]'",
            "install the wheel for this platform",
        ),
        (
            Origin("pip"),
            "a package index",
            "pip install 'kraftops[arrow]'",
            "install the wheel for this platform",
        ),
    ],
)
def test_hints_are_of_the_origin(installed: Origin, place: str, extra: str, engine: str) -> None:
    assert str(installed) == place
    assert installed.extra_remedy("arrow") == extra
    assert installed.engine_remedy() == engine


def test_tree_does_not_ask_for_pip() -> None:
    assert "pip install" not in Origin("deb").extra_remedy("spark")
    assert str(Origin("deb")).startswith("the deb in /")


NOTES = {
    "a file": ({"url": "file:///a%20b/k.whl"}, Origin("pip", "/a b/k.whl")),
    "a directory": (
        {"url": "file:///src", "dir_info": {"editable": True}},
        Origin("pip", "/src", is_editable=True),
    ),
    "a URL": ({"url": "https://host/k.whl"}, Origin("pip", "https://host/k.whl")),
    "an index": (None, Origin("pip")),
}


@pytest.mark.parametrize("case", NOTES)
def test_origin_is_what_the_installer_noted(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    note, expected = NOTES[case]
    texts = {"INSTALLER": "pip\n", "direct_url.json": note and json.dumps(note)}
    monkeypatch.setattr(
        "importlib.metadata.distribution", lambda _: Mock(read_text=texts.__getitem__)
    )

    assert origin.__wrapped__() == expected


def test_source_tree_that_is_not_installed_is_its_own_origin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "importlib.metadata.distribution", Mock(side_effect=PackageNotFoundError("kraftops"))
    )

    assert Path(origin.__wrapped__().place, "kraftops/origin.py").is_file()
