"""`format --ensure` accepts directories that are as asked, and names both values of what differs."""

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.checks import check_as_requested
from kraftops.storage.format.plan import FormatRequest, plan_format
from kraftops.storage.logdirs.directories import read_directories
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import no_ops, voters_batch, write_log
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    STATIC,
    format_node,
    make_node,
)

ONE, TWO = b"1" * 16, b"2" * 16
VOTERS = f"1@localhost:29093:{to_text(ONE)}"
OTHERS = f"{VOTERS},2@elsewhere:29093:{to_text(TWO)}"
SHOWN = OTHERS.replace(",", ", ")
FORMS = {
    "static": (STATIC, (), {}),
    "standalone": (DYNAMIC, ("--standalone",), {"standalone": True}),
    "-N": (DYNAMIC, ("-N",), {"no_initial_controllers": True}),
    "one voter": (DYNAMIC, ("-I", VOTERS), {"initial_controllers": VOTERS}),
    "two voters": (DYNAMIC, ("-I", OTHERS), {"initial_controllers": OTHERS}),
}
"""Of quorums: keys of the configuration, flags, and the request that they make."""


def formatted(folder: Path, form: str) -> Path:
    """Make a node and format it."""
    keys, flags, _ = FORMS[form]
    node = make_node(folder / "node", keys)
    done = format_node(node, *flags)
    assert done.code == 0, done.err
    return node


def ensure(node: Path, form: str) -> None:
    """Ask for a node of a form; its configuration becomes one of that form too."""
    keys, _, request = FORMS[form]
    make_node(node, keys)
    with chdir(node):
        plan = plan_format(
            load_config(PROPERTIES),
            FormatRequest(cluster_id=CLUSTER_ID, ensure=True, **request),  # type: ignore[arg-type]
        )
        check_as_requested(plan, is_standalone=bool(request.get("standalone")))


def refusal(node: Path, form: str) -> str:
    with pytest.raises(KraftopsError) as caught:
        ensure(node, form)
    return caught.value.message


def own_voter(node: Path) -> str:
    with chdir(node):
        meta = read_directories(load_config(PROPERTIES))[0].meta
    assert meta
    assert meta.directory_id
    return f"1@localhost:29093:{to_text(meta.directory_id)}"


@pytest.mark.parametrize("form", FORMS)
def test_equal_format_is_accepted(tmp_path: Path, form: str) -> None:
    ensure(formatted(tmp_path, form), form)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_formatted_is_as_asked(tmp_path: Path, form: str) -> None:
    ensure(make_node(tmp_path / "node"), form)


NONE = "no voters of its own (a static quorum, or --no-initial-controllers)"


@pytest.mark.parametrize(
    ("there", "asked", "shown"),
    [
        ("static", "one voter", f"d1 was formatted with {NONE}, asked is the voters {VOTERS}"),
        ("one voter", "static", f"d1 was formatted with the voters {VOTERS}, asked is {NONE}"),
        ("one voter", "-N", f"d1 was formatted with the voters {VOTERS}, asked is {NONE}"),
        (
            "one voter",
            "two voters",
            f"d1 was formatted with the voters {VOTERS}, asked is the voters {SHOWN}",
        ),
    ],
)
def test_other_quorum_is_refused_with_both(
    tmp_path: Path, there: str, asked: str, shown: str
) -> None:
    assert refusal(formatted(tmp_path, there), asked) == shown


def test_standalone_names_the_directory_id_that_is_there(tmp_path: Path) -> None:
    node = formatted(tmp_path, "-N")

    assert refusal(node, "standalone") == (
        f"d1 was formatted with {NONE}, asked is the voters {own_voter(node)}"
    )


def test_standalone_accepts_any_directory_id(tmp_path: Path) -> None:
    ensure(formatted(tmp_path, "one voter"), "standalone")


def test_other_directory_id_is_refused_with_both(tmp_path: Path) -> None:
    node = formatted(tmp_path, "one voter")
    path = node / "d1" / META
    path.write_text(path.read_text().replace(to_text(ONE), OTHER_ID))

    assert refusal(node, "one voter") == (
        f"d1 has the directory id {OTHER_ID}, --initial-controllers gives it {to_text(ONE)}"
    )


@pytest.mark.parametrize(
    ("text", "lacks"), [("broker.id=1\n", "cluster.id"), (f"cluster.id={CLUSTER_ID}\n", "node id")]
)
def test_version_0_without_ids_is_refused(tmp_path: Path, text: str, lacks: str) -> None:
    node = formatted(tmp_path, "static")
    (node / "d2" / META).write_text(text)

    assert refusal(node, "static") == f"d2/meta.properties is of version 0 and has no {lacks}"


def test_version_0_with_ids_is_as_asked(tmp_path: Path) -> None:
    node = formatted(tmp_path, "static")
    (node / "d2" / META).write_text(f"broker.id=1\ncluster.id={CLUSTER_ID}\n")

    ensure(node, "static")


# Directories in which a server has run


def run(node: Path, *batches: bytes) -> None:
    """Let a server have written to the metadata log of a node."""
    write_log(node / "d1", {0: [no_ops(0, 2), *batches]})


@pytest.mark.parametrize("form", FORMS)
def test_node_that_has_run_is_as_asked(tmp_path: Path, form: str) -> None:
    node = formatted(tmp_path, form)
    run(node)

    ensure(node, form)


def test_quorum_that_has_run_may_have_other_voters(tmp_path: Path) -> None:
    node = formatted(tmp_path, "one voter")
    run(node, voters_batch(2, (1, ONE), (2, TWO)))

    for form in ("one voter", "two voters", "standalone"):
        ensure(node, form)


def test_static_quorum_that_has_run_stays_static(tmp_path: Path) -> None:
    node = formatted(tmp_path, "static")
    run(node)

    assert refusal(node, "one voter") == (
        f"d1 was formatted with {NONE}, asked is the voters {VOTERS}"
    )


def test_controller_that_joined_may_have_voters(tmp_path: Path) -> None:
    node = formatted(tmp_path, "-N")
    run(node, voters_batch(2, (2, TWO)))

    ensure(node, "-N")


def test_voters_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    node = formatted(tmp_path, "one voter")
    path = node / f"d1/__cluster_metadata-0/{0:020}-{0:010}.checkpoint"
    path.chmod(0o600)
    path.write_bytes(b"")

    assert refusal(node, "one voter") == (
        f"cannot tell the voters of d1: {path.relative_to(node)}: it is empty"
    )


def test_metadata_log_that_cannot_be_listed_is_refused(tmp_path: Path) -> None:
    node = formatted(tmp_path, "one voter")
    shutil.rmtree(node / "d1/__cluster_metadata-0")
    (node / "d1/__cluster_metadata-0").touch()

    assert refusal(node, "one voter") == "cannot read d1/__cluster_metadata-0: Not a directory"
