"""Files of client properties, and errors that name their lines."""

from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from kraftops.wire.config.client_properties import ClientProperties, read_properties
from kraftops.wire.config.client_settings import load_settings


def written(folder: Path, text: str) -> ClientProperties:
    path = folder / "client.properties"
    path.write_text(text)
    return ClientProperties(str(path), read_properties(str(path)))


@pytest.mark.parametrize("name", ["no-such.properties", "", "."])
def test_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"^cannot read .*: (No such file|Is a directory)"):
        load_settings(name, lambda _: None)


def test_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^cannot read .*: File too large"):
        written(tmp_path, "a=1\n" * (1 << 20) + "b")


def test_values_are_stripped_and_raw_values_are_not(tmp_path: Path) -> None:
    properties = written(tmp_path, "a=  x,, y \n")

    assert properties.value("a") == "x,, y"
    assert properties.values("a") == ("x", "y")
    assert properties.raw_value("a") == "x,, y "
    assert (properties.value("b", "c"), properties.raw_value("b")) == ("c", None)


def test_errors_have_file_line_and_hint(tmp_path: Path) -> None:
    properties = written(tmp_path, "a=1\nb=2\n")

    error = properties.unsupported("b", "try 3")

    assert error.message == f"{properties.path}: line 2: b 2 cannot be honoured here"
    assert error.hint == "try 3"
    assert properties.error("c", "no").message == f"{properties.path}: no"
    assert properties.invalid("a", "Why").message.endswith(
        ": line 1: Invalid value 1 for configuration a: Why"
    )
