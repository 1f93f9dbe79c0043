"""Placeholders in a configuration, and the providers that resolve them."""

import os
from pathlib import Path

import pytest

from kraftops.storage.config.providers import resolve_placeholders
from kraftops.storage.config.values import ConfigRefused

PACKAGE = "org.apache.kafka.common.config.provider"
ENV = {
    "config.providers": "env",
    "config.providers.env.class": f"{PACKAGE}.EnvVarConfigProvider",
}
FILE = {
    "config.providers": "file",
    "config.providers.file.class": f"{PACKAGE}.FileConfigProvider",
}
DIRECTORY = {
    "config.providers": "dir",
    "config.providers.dir.class": f"{PACKAGE}.DirectoryConfigProvider",
}
ENVIRONMENT = {"ID": "1", "EMPTY": "", "OTHER": "${env:ID}"}


def value(text: str, providers: dict[str, str], environment: dict[str, str] | None = None) -> str:
    """Return what becomes of the value of a key."""
    return resolve_placeholders(providers | {"key": text}, environment or ENVIRONMENT).originals[
        "key"
    ]


def refusal(text: str, providers: dict[str, str]) -> ConfigRefused:
    with pytest.raises(ConfigRefused) as refused:
        value(text, providers)
    return refused.value


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    tmp_path.joinpath("a.properties").write_text("id = 1\npassword=\\u0041ß\n")
    tmp_path.joinpath("id").write_text("1\n")
    tmp_path.joinpath("sub").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("${env:ID}", "1", id="alone"),
        pytest.param("a${env:ID}b${env:ID}", "a1b1", id="in a text, and twice"),
        pytest.param("${env::ID}", "1", id="an empty path"),
        pytest.param("${env:EMPTY}", "", id="empty"),
        pytest.param("${env:NONE}", "${env:NONE}", id="not set"),
        pytest.param("${env:}", "${env:}", id="no variable"),
        pytest.param("${other:ID}", "${other:ID}", id="no such provider"),
        pytest.param("${env:OTHER}", "${env:ID}", id="what is found is not resolved again"),
        pytest.param("$${env:ID}", "$1", id="no escape"),
        pytest.param("${env:ID", "${env:ID", id="not closed"),
        pytest.param("${ID}", "${ID}", id="no provider"),
    ],
)
def test_environment(text: str, expected: str) -> None:
    assert value(text, ENV) == expected


def test_nothing_is_resolved_without_providers() -> None:
    assert value("${env:ID}", {}) == "${env:ID}"


@pytest.mark.parametrize(
    "providers",
    [
        pytest.param({"config.providers": "env"}, id="no class"),
        pytest.param(ENV | {"config.providers": ""}, id="not listed"),
        pytest.param(ENV | {"config.providers": "x, env"}, id="a blank before the name"),
    ],
)
def test_provider_that_is_not_defined_resolves_nothing(providers: dict[str, str]) -> None:
    assert value("${env:ID}", providers) == "${env:ID}"


def test_the_class_decides_not_the_name() -> None:
    providers = {
        "config.providers": "file",
        "config.providers.file.class": f"{PACKAGE}.EnvVarConfigProvider",
    }

    assert value("${file:ID}", providers) == "1"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param("I.*", "1", id="allowed"),
        pytest.param("I", "${env:ID}", id="the whole name must match"),
        pytest.param("", "${env:ID}", id="nothing is allowed"),
    ],
)
def test_environment_is_limited_by_its_pattern(pattern: str, expected: str) -> None:
    providers = ENV | {"config.providers.env.param.allowlist.pattern": pattern}

    assert value("${env:ID}", providers) == expected


@pytest.mark.parametrize("pattern", ["(", "[a-z&&[^b]]", r"\p{Upper}+"])
def test_pattern_that_is_not_understood_is_refused(pattern: str) -> None:
    error = refusal("x", ENV | {"config.providers.env.param.allowlist.pattern": pattern})

    assert f"the pattern {pattern} cannot be used here" in error.message
    assert error.keys[0] == "config.providers.env.param.allowlist.pattern"


def test_environment_has_no_paths() -> None:
    error = refusal("${env:/a:ID}", ENV)

    assert error.message == ("Path is not supported for EnvVarConfigProvider, invalid value '/a'")
    assert error.keys == ("key",)


def test_file(secrets: Path) -> None:
    path = secrets / "a.properties"

    assert value(f"${{file:{path}:id}}-${{file:{path}:password}}", FILE) == "1-Aß"


@pytest.mark.parametrize("text", ["${file::id}", "${file:id}"])
def test_file_without_path_is_not_resolved(text: str) -> None:
    assert value(text, FILE) == text


def test_file_without_the_key_is_not_resolved(secrets: Path) -> None:
    text = f"${{file:{secrets}/a.properties:none}}"

    assert value(text, FILE) == text


@pytest.mark.parametrize(
    ("name", "hint"), [("none", "No such file or directory"), ("sub", "Is a directory")]
)
def test_file_that_cannot_be_read_is_refused(secrets: Path, name: str, hint: str) -> None:
    error = refusal(f"${{file:{secrets}/{name}:id}}", FILE)

    assert error.message == f"Could not read properties from file {secrets}/{name}"
    assert error.hint == hint
    assert error.keys == ("key",)


def test_file_that_is_not_utf_8_is_refused(secrets: Path) -> None:
    (secrets / "latin").write_bytes(b"id=\xe9")

    error = refusal(f"${{file:{secrets}/latin:id}}", FILE)

    assert error.message == f"Could not read properties from file {secrets}/latin"
    assert error.hint == "it is not UTF-8"


def test_file_with_a_malformed_escape_is_refused(secrets: Path) -> None:
    (secrets / "bad").write_text("id=\\u12")

    error = refusal(f"${{file:{secrets}/bad:id}}", FILE)

    assert error.message == "Malformed \\uxxxx encoding."
    assert error.hint == f"{secrets}/bad: line 1: Malformed \\uxxxx encoding."


def test_directory(secrets: Path) -> None:
    assert value(f"${{dir:{secrets}:id}}", DIRECTORY) == "1\n"


@pytest.mark.parametrize("key", ["sub", "none", "../id"])
def test_directory_has_only_files(secrets: Path, key: str) -> None:
    text = f"${{dir:{secrets}:{key}}}"

    assert value(text, DIRECTORY) == text


@pytest.mark.parametrize("name", ["id", "none"])
def test_path_that_is_no_directory_is_not_resolved(secrets: Path, name: str) -> None:
    text = f"${{dir:{secrets}/{name}:id}}"

    assert value(text, DIRECTORY) == text


def test_file_of_a_directory_that_is_not_utf_8_is_refused(secrets: Path) -> None:
    (secrets / "latin").write_bytes(b"\xe9")

    error = refusal(f"${{dir:{secrets}:latin}}", DIRECTORY)

    assert error.message == f"Could not read file {secrets}/latin for property latin"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every directory")
def test_directory_that_cannot_be_listed_is_refused(secrets: Path) -> None:
    (secrets / "sub").chmod(0)

    error = refusal(f"${{dir:{secrets}/sub:id}}", DIRECTORY)

    assert error.message == f"Could not list directory {secrets}/sub"


def limited(allowed: str) -> dict[str, str]:
    return FILE | {"config.providers.file.param.allowed.paths": allowed}


@pytest.mark.parametrize(
    ("allowed", "path"),
    [
        pytest.param("{0}", "{0}/a.properties", id="inside"),
        pytest.param("{0}/a.properties", "{0}/a.properties", id="the file itself"),
        pytest.param("{0}/sub/..", "{0}/sub/../a.properties", id="by way of another"),
        pytest.param("{0}/sub,{0}//", "{0}//a.properties", id="one of several"),
        pytest.param("", "{0}/a.properties", id="no limit"),
        pytest.param("/", "{0}/a.properties", id="everywhere"),
    ],
)
def test_allowed_path_is_read(secrets: Path, allowed: str, path: str) -> None:
    text = f"${{file:{path.format(secrets)}:id}}"

    assert value(text, limited(allowed.format(secrets))) == "1"


@pytest.mark.parametrize(
    ("allowed", "path"),
    [
        pytest.param("{0}/sub", "{0}/a.properties", id="outside"),
        pytest.param("{0}/sub", "{0}/sub/../a.properties", id="out again"),
        pytest.param("{0}/id", "{0}/id2", id="a name that begins alike"),
        pytest.param(",", "{0}/a.properties", id="nothing allowed"),
        pytest.param("{0}", "a.properties", id="relative"),
    ],
)
def test_path_that_is_not_allowed_is_not_resolved(secrets: Path, allowed: str, path: str) -> None:
    text = f"${{file:{path.format(secrets)}:id}}"

    assert value(text, limited(allowed.format(secrets))) == text


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ("here/there", "Path here/there is not absolute"),
        (",/", "Path  is not absolute"),
        ("/no/such/./path", "Path /no/such/path does not exist"),
    ],
)
def test_allowed_paths_must_be_there(allowed: str, message: str) -> None:
    error = refusal("x", limited(allowed))

    assert error.message == message
    assert error.keys[0] == "config.providers.file.param.allowed.paths"


@pytest.mark.parametrize(
    "name", ["com.example.VaultConfigProvider", "FileConfigProvider", f"{PACKAGE}.Other", ""]
)
def test_value_of_a_foreign_provider_stays_unresolved(name: str) -> None:
    foreign = {"config.providers": "v", "config.providers.v.class": name}

    resolved = resolve_placeholders({"key": "${v:a:b}", "other": "${w:a:b}", **foreign}, {})

    assert resolved.unresolved == {"key": name}
    assert resolved.originals["key"] == "${v:a:b}"
