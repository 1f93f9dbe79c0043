"""The image of a metadata shell is loaded, kept current and described."""

import re
from pathlib import Path

import pytest

from kraftops.findings.finding import Place
from kraftops.image.state.findings import DAMAGE, GAP, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.metadata_shell.source import open_image, print_findings
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.logs.bundles import KINDS, files_in, under
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.tools.our_shell import DIRECTORY, ours


def request_for(source: Path, *, follow: bool = False) -> ShellRequest:
    return ShellRequest(
        source=str(source),
        words=("ls",),
        is_kafka=False,
        quorum=None,
        at_offset=None,
        at_time=None,
        dialect="kafka",
        show_secrets=False,
        follow=follow,
        keeps_history=False,
    )


@pytest.mark.parametrize("follow", [False, True])
def test_only_a_followed_log_is_updated(tmp_path: Path, follow: bool) -> None:
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(no_ops(0, 2))
    opened = open_image(Terminal("tool"), request_for(path, follow=follow))
    with path.open("ab") as file:
        file.write(no_ops(2, 1))

    assert opened.current.update() is follow
    assert opened.current.image.offset == (2 if follow else 1)
    assert opened.quorum is None


def test_damage_has_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    image = MetadataImage()
    terminal = Terminal("tool")
    assert print_findings(terminal, "0.log", image) == 0

    image.log_findings.append(log_finding(GAP, "a gap", Place(file="0.log", offset=3, position=61)))
    assert print_findings(terminal, "0.log", image) == 0
    image.log_findings.append(log_finding(DAMAGE, "damage", Place(file="1.log", position=0)))
    assert print_findings(terminal, "0.log", image) == 2

    terminal.flush()
    assert "0.log, offset 3, position 61: a gap" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["summary"], ["find", "/", "-name", "n*"], ["verify"]])
def test_log_in_an_archive_is_that_of_the_directory(tmp_path: Path, words: list[str]) -> None:
    KINDS["log.tar.gz"](tmp_path / "node.tar.gz", under("n431/", files_in(DIRECTORY)))

    packed = ours("-s", "node.tar.gz", *words, cwd=tmp_path)
    plain = ours("-s", str(DIRECTORY), *words)

    assert packed.code == plain.code == 0
    inside = "node.tar.gz!/n431/__cluster_metadata-0"
    assert packed.text.replace(inside, str(DIRECTORY)) == plain.text


def test_archive_is_neither_followed_nor_without_a_log(tmp_path: Path) -> None:
    KINDS["log.zip"](tmp_path / "a.zip", {"t-0/00000000000000000000.log": b""})

    failed = ours("-s", "a.zip", "ls", cwd=tmp_path)
    assert failed.errors[0] == "kraftops: a.zip holds no metadata log [usage]"
    followed = ours("-s", "a.zip", "--follow", "ls", cwd=tmp_path)
    assert followed.errors[0] == "kraftops: --follow reads no archive of directories: a.zip [usage]"


def test_an_offset_after_the_end_of_the_log_is_told() -> None:
    done = ours("ls", "--at-offset", "9999999", "-s", str(DIRECTORY))

    assert done.code == 0
    assert re.search(r"note: the log ends at offset \d+: this is the state there", done.err)


def test_a_table_says_of_which_state_it_is() -> None:
    done = ours("brokers", "-s", str(DIRECTORY))

    assert re.match(rf"note: State of 2026-\S+Z, offset \d+, by the log of {DIRECTORY}\n", done.err)
