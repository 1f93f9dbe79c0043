"""The argument syntax of argparse4j, on a tool like kafka-storage."""

import io
import json
import os
import string
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest
from hypothesis import given as given_
from hypothesis import strategies as st

from kraftops_cli import main
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand, ToolGroup
from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_cli.syntax.values import Number
from tests.helpers.tools.console import ENVIRONMENT, Done, MemoryTerminal

ID = "MkU3OEVBNTcwNTJENDM2Qk"
USAGE = "kafka-storage{} --help shows how it is used"

CONFIG = click.option("--config", "-c", required=True)
OURS = click.option("--format", type=click.Choice(["text", "json"]), default="text")


def tell(ctx: click.Context, /, **options: object) -> int:
    """Print the given parameters of the command."""
    given = {
        name: value
        for name, value in options.items()
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    ctx.obj.write(json.dumps([ctx.command_path, given]) + "\n")
    return 0


def subcommand(
    name: str, *options: Callable[..., Any], syntax: Argparse4j | None = None, **attributes: Any
) -> click.Command:
    command = click.command(
        name, cls=ToolCommand, syntax=syntax or Argparse4j(), help=f"Do {name}.", **attributes
    )
    body: Any = click.pass_context(tell)
    for option in reversed(options):
        body = option(body)
    return command(body)


info = subcommand("info", CONFIG, OURS, syntax=Argparse4j(ours=frozenset({"format"})))
format_ = subcommand(
    "format",
    CONFIG,
    click.option("--cluster-id", "-t", required=True),
    click.option("--add-scram", "-S", multiple=True),
    click.option("--ignore-formatted", "-g", is_flag=True),
    click.option("--release-version", "-r"),
    click.option("--feature", "-f", multiple=True),
    click.option("--standalone", "-s", is_flag=True),
    click.option("--no-initial-controllers", "-N", is_flag=True),
    click.option("--initial-controllers", "-I"),
    click.option("--dry-run", is_flag=True),
    click.option("--replace-directory", "-R", multiple=True),
    click.option("--timeout", type=Number(60)),
    click.option("--no-sync", is_flag=True),
    syntax=Argparse4j(
        ours=frozenset({"dry_run", "replace_directory", "timeout", "no_sync"}),
        exclusive=(("standalone", "no_initial_controllers", "initial_controllers"),),
    ),
    examples={"prepare a directory": "kafka-storage format -c server.properties -t ID"},
    sections={"Exit status": "0: done.\n1: could not.", "Notes": "Only in the manual."},
)
version_mapping = subcommand("version-mapping", click.option("--release-version", "-r"))
feature_dependencies = subcommand(
    "feature-dependencies", click.option("--feature", "-f", multiple=True, required=True)
)
random_uuid = subcommand("random-uuid")
rewrite = subcommand("rewrite", CONFIG)
verify = subcommand(
    "verify",
    click.option("-d", multiple=True, help="An option with a short name only."),
    click.argument("path", required=True),
    click.argument("others", nargs=-1),
)
COMMANDS = {
    name: (f"{__name__}:{place}", f"Do {name}.")
    for name, place in {
        "info": "info",
        "format": "format_",
        "version-mapping": "version_mapping",
        "feature-dependencies": "feature_dependencies",
        "random-uuid": "random_uuid",
        "rewrite": "rewrite",
        "verify": "verify",
    }.items()
}


@click.group(
    cls=ToolGroup,
    name="storage",
    syntax=Argparse4j(ours=frozenset({"rewrite", "verify", "version"})),
    lazy=COMMANDS,
    examples={"a new identifier": "kafka-storage random-uuid"},
    sections={"Exit status": "0: done.\n1: could not."},
    help="Prepare directories.",
)
@click.version_option("4.3.1", message="%(version)s")
def storage() -> None:
    pass


@click.group(cls=LazyGroup, name="kraftops", lazy={"storage": (f"{__name__}:storage", "Prepare.")})
def root() -> None:
    pass


PROGRAMS = {"kafka-storage": storage, "kraftops": root}


def run(*args: str, cwd: Path | str = ".", program: str = "kafka-storage") -> Done:
    out, echoed, err = io.BytesIO(), io.StringIO(), io.StringIO()
    command = PROGRAMS[program]
    with (
        chdir(cwd),
        patch.object(sys, "argv", [program, *args]),
        redirect_stdout(echoed),
        redirect_stderr(err),
    ):
        code = main.run(command, program, MemoryTerminal(program, out))
    return Done(code, out.getvalue() + echoed.getvalue().encode(), err.getvalue())


def given(*args: str, cwd: Path | str = ".") -> tuple[str, dict[str, Any]]:
    """Return the subcommand of *args*, and its parameters."""
    done = run(*args, cwd=cwd)
    assert (done.code, done.err) == (0, "")
    path, options = json.loads(done.text)
    return path.removeprefix("kafka-storage "), options


FORMAT = {"config": "c.properties", "cluster_id": ID}
FORMAT_ARGS = ["format", "-c", "c.properties", "-t", ID]


@pytest.mark.parametrize(
    ("args", "options"),
    [
        pytest.param(["--config", "x"], {"config": "x"}, id="long option"),
        pytest.param(["--config=x"], {"config": "x"}, id="long option with ="),
        pytest.param(["--conf", "x"], {"config": "x"}, id="prefix"),
        pytest.param(["--c=x"], {"config": "x"}, id="prefix with ="),
        pytest.param(["-c", "x"], {"config": "x"}, id="short option"),
        pytest.param(["-cx"], {"config": "x"}, id="value behind a short option"),
        pytest.param(["-c=x"], {"config": "x"}, id="= behind a short option is dropped"),
        pytest.param(["-cx=y"], {"config": "x=y"}, id="= in a value behind a short option"),
        pytest.param(["--config=x=y"], {"config": "x=y"}, id="second ="),
        pytest.param(["-c", "x", "--config", "y", "-cz"], {"config": "z"}, id="last one wins"),
        pytest.param(["--config="], {"config": ""}, id="empty behind ="),
        pytest.param(["-c="], {"config": ""}, id="empty behind short ="),
        pytest.param(["-c", ""], {"config": ""}, id="empty argument"),
        pytest.param(["-c", "-"], {"config": "-"}, id="a dash"),
        pytest.param(["-c", "-5"], {"config": "-5"}, id="negative number"),
        pytest.param(["--config=--help"], {"config": "--help"}, id="option as value behind ="),
        pytest.param(["-c=-c"], {"config": "-c"}, id="option as value behind short ="),
        pytest.param(["--config=@x"], {"config": "@x"}, id="@ behind ="),
        pytest.param(["-c@x"], {"config": "@x"}, id="@ behind a short option"),
        pytest.param(["-c", "@"], {"config": "@"}, id="just @"),
        pytest.param(["-c", "x", "--"], {"config": "x"}, id="-- and nothing"),
        pytest.param(
            ["-c", "x", "--format", "json"], {"config": "x", "format": "json"}, id="ours, a choice"
        ),
        pytest.param(
            ["-c", "x", "--fo=json"], {"config": "x", "format": "json"}, id="ours, prefix"
        ),
    ],
)
def test_ways_to_give_an_option(args: list[str], options: dict[str, object]) -> None:
    assert given("info", *args) == ("info", options)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        pytest.param(["-g"], {"ignore_formatted": True}, id="flag"),
        pytest.param(["-g", "--ignore-formatted"], {"ignore_formatted": True}, id="flag twice"),
        pytest.param(["-gs"], {"ignore_formatted": True, "standalone": True}, id="joined flags"),
        pytest.param(
            ["-gr4.0"], {"ignore_formatted": True, "release_version": "4.0"}, id="joined, value"
        ),
        pytest.param(
            ["-gr", "4.0"], {"ignore_formatted": True, "release_version": "4.0"}, id="value next"
        ),
        pytest.param(
            ["-gr=4.0"],
            {"ignore_formatted": True, "release_version": "=4.0"},
            id="= is a sign of the value where options are joined",
        ),
        pytest.param(["-ss"], {"standalone": True}, id="one of a group twice"),
        pytest.param(["-f", "a=1", "--feature=b=2", "-fc=3"], {"feature": ["a=1", "b=2", "c=3"]}),
        pytest.param(["--initial-controllers="], {"initial_controllers": ""}, id="empty value"),
        pytest.param(
            ["--dry-run", "-RA", "-R", "B"], {"dry_run": True, "replace_directory": ["A", "B"]}
        ),
        pytest.param(["--timeout", "5"], {"timeout": 5}, id="a type of ours"),
        pytest.param(["--timeout", "+5"], {"timeout": 5}, id="a type of ours, signed"),
        # Kafka's names go before ours.
        pytest.param(["--re", "4.0"], {"release_version": "4.0"}, id="not --replace-directory"),
        pytest.param(["--rep", "A"], {"replace_directory": ["A"]}, id="--replace-directory"),
        pytest.param(["--no"], {"no_initial_controllers": True}, id="not --no-sync"),
        pytest.param(["--no-s"], {"no_sync": True}, id="--no-sync"),
        pytest.param(["--d"], {"dry_run": True}, id="--dry-run"),
    ],
)
def test_ways_to_give_several(args: list[str], options: dict[str, object]) -> None:
    assert given(*FORMAT_ARGS, *args) == ("format", FORMAT | options)


@pytest.mark.parametrize(
    "value",
    [
        "-Yh6UlCCQHi-lGXJTBX7bw",
        "-tZbXpUjRLuRVTmQeq9-cg",
        "-sgNtttttttttttttttttt",
        "-gggggggggggggggggggggg"[:22],
        "--h6UlCCQHi-lGXJTBX7bw",
        "-5",
        "-2h",
        "-",
    ],
)
def test_value_may_begin_with_a_dash(value: str) -> None:
    """Beyond argparse4j: a UUID, even if it could be options."""
    assert given("format", "-c", "x", "-t", value)[1]["cluster_id"] == value
    assert given("format", "-c", "x", "--cluster-id", value)[1]["cluster_id"] == value


def test_any_uuid_is_a_value() -> None:
    letters = string.ascii_letters + string.digits + "-_"

    @given_(st.text(letters, min_size=21, max_size=21))
    def check(rest: str) -> None:
        assert given("format", "-c", "x", "-t", f"-{rest}")[1]["cluster_id"] == f"-{rest}"

    check()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("info", "info"),
        ("i", "info"),
        ("form", "format"),
        ("fe", "feature-dependencies"),
        ("rand", "random-uuid"),
        ("r", "random-uuid"),
        ("re", "rewrite"),
        ("v", "version-mapping"),
        ("ver", "version-mapping"),
        ("veri", "verify"),
    ],
)
def test_subcommand_may_be_shortened(name: str, meant: str) -> None:
    """Kafka's names go before ours."""
    done = run(name, "-h")

    assert done.code == 0
    assert done.text.split("Usage: ")[1].startswith(f"kafka-storage {meant} [OPTIONS]")


CHOICES = (
    "(choose from 'info', 'format', 'version-mapping', 'feature-dependencies', 'random-uuid', "
    "'rewrite', 'verify')"
)
ONE = "expected one argument"


@pytest.mark.parametrize(
    ("command_line", "reason"),
    [
        # What kafka-storage 4.3.1 says, word by word; only its lists lack our names.
        ("", "too few arguments"),
        ("--", "too few arguments"),
        ("frobnicate", f"invalid choice: 'frobnicate' {CHOICES}"),
        ("-", f"invalid choice: '-' {CHOICES}"),
        ("@", f"invalid choice: '@' {CHOICES}"),
        ("f", "ambiguous command: f could match feature-dependencies, format"),
        ("--unheard info", "unrecognized arguments: '--unheard'"),
        ("--config x info", "unrecognized arguments: '--config'"),
        ("-c x info", "unrecognized arguments: '-c'"),
        ("-- info", "unrecognized arguments: 'info'"),
        ("random-uuid x", "unrecognized arguments: 'x'"),
        ("info", "argument --config/-c is required"),
        ("info --", "argument --config/-c is required"),
        ("format", "argument --cluster-id/-t is required"),
        ("format -t x", "argument --config/-c is required"),
        ("format -c x", "argument --cluster-id/-t is required"),
        ("feature-dependencies", "argument --feature/-f is required"),
        ("info -c", f"argument --config/-c: {ONE}"),
        ("info --config -c x", f"argument --config/-c: {ONE}"),
        ("info --config --co", f"argument --config/-c: {ONE}"),
        ("info -c -- x", f"argument --config/-c: {ONE}"),
        ("format -t --i", f"argument --cluster-id/-t: {ONE}"),
        ("format -t --c", f"argument --cluster-id/-t: {ONE}"),
        ("format -t -gs", f"argument --cluster-id/-t: {ONE}"),
        ("format -t -cx", f"argument --cluster-id/-t: {ONE}"),
        ("format -t -gcx", f"argument --cluster-id/-t: {ONE}"),
        ("format -t -c=x", f"argument --cluster-id/-t: {ONE}"),
        ("format -t --config=x", f"argument --cluster-id/-t: {ONE}"),
        ("format -t --standlone -c x", f"argument --cluster-id/-t: {ONE}"),
        ("format -t -standalone -c x", f"argument --cluster-id/-t: {ONE}"),
        ("format -c x -t", f"argument --cluster-id/-t: {ONE}"),
        ("format -t --=x", f"argument --cluster-id/-t: {ONE}"),
        ("format -c -h", f"argument --config/-c: {ONE}"),
        ("feature-dependencies -f a -f -f", f"argument --feature/-f: {ONE}"),
        ("info x -c y -h", "unrecognized arguments: 'x -c y -h'"),
        ("info -c x -", "unrecognized arguments: '-'"),
        ("info -5", "unrecognized arguments: '-5'"),
        ("info -c x --unheard", "unrecognized arguments: '--unheard'"),
        ("info -c x --unheard=y", "unrecognized arguments: '--unheard=y'"),
        ("info ---", "unrecognized arguments: '---'"),
        ("info -xc y", "unrecognized arguments: '-xc'"),
        ("format -gx", "unrecognized arguments: '-gx'"),
        ("format -gs=x", "unrecognized arguments: '-gs=x'"),
        ("format -c x -- -t y", "unrecognized arguments: '-t y'"),
        (
            "format --i",
            "ambiguous option: --i could match --ignore-formatted, --initial-controllers",
        ),
        ("info --=x", "ambiguous option: -- could match --config, --help"),
        ("info -=x", "ambiguous option: - could match --config, --help, -c, -h"),
        ("format -g=x", "argument --ignore-formatted/-g: ignore implicit argument 'x'"),
        (
            "format --ignore-formatted=",
            "argument --ignore-formatted/-g: ignore implicit argument ''",
        ),
        (
            "format -s -N",
            "argument --no-initial-controllers/-N: not allowed with argument --standalone/-s",
        ),
        (
            "format -N -s",
            "argument --standalone/-s: not allowed with argument --no-initial-controllers/-N",
        ),
        (
            "format -Ns",
            "argument --standalone/-s: not allowed with argument --no-initial-controllers/-N",
        ),
        (
            "format -s -I",
            "argument --initial-controllers/-I: not allowed with argument --standalone/-s",
        ),
        (
            "format -I x --no",
            "argument --no-initial-controllers/-N: not allowed with argument --initial-controllers/-I",
        ),
        (
            "format -s -g -s --init=",
            "argument --initial-controllers/-I: not allowed with argument --standalone/-s",
        ),
        ("info --unheard -h", "unrecognized arguments: '--unheard'"),
        ("info x -h", "unrecognized arguments: 'x -h'"),
        ("info -c -h", f"argument --config/-c: {ONE}"),
        (
            "format -s -N -h",
            "argument --no-initial-controllers/-N: not allowed with argument --standalone/-s",
        ),
        # Ours.
        ("format --t -c x", f"argument --timeout: {ONE}"),
        ("verify", "too few arguments"),
        ("verify -d", f"argument -d: {ONE}"),
    ],
)
def test_bad_request_is_one_line_and_a_hint(command_line: str, reason: str) -> None:
    done = run(*command_line.split())

    first, second = done.errors
    assert (done.code, done.out) == (1, b"")
    assert first == f"kafka-storage: {reason}"
    assert second.startswith("hint: ")
    assert second.endswith(" --help shows how it is used")


@pytest.mark.parametrize("args", [[""], ["", "info"]])
def test_empty_subcommand_is_none(args: list[str]) -> None:
    assert run(*args).errors[0] == f"kafka-storage: invalid choice: '' {CHOICES}"


def test_empty_argument_is_one() -> None:
    assert run("info", "").errors[0] == "kafka-storage: unrecognized arguments: ''"
    assert (
        run("info", "-c", "x", "", "y").errors[0] == "kafka-storage: unrecognized arguments: ' y'"
    )


@pytest.mark.parametrize(
    ("command_line", "hint"),
    [
        ("inof", "perhaps info is meant; kafka-storage --help"),
        ("random-uid", "perhaps random-uuid is meant; kafka-storage --help"),
        ("rewrit -c", "kafka-storage rewrite --help"),
        ("verifi", "perhaps verify is meant; kafka-storage --help"),
        ("xyz", "kafka-storage --help"),
        ("info -c x --confg=y", "perhaps --config is meant; kafka-storage info --help"),
        ("format --stand-alone", "perhaps --standalone is meant; kafka-storage format --help"),
        ("format --dryrun", "perhaps --dry-run is meant; kafka-storage format --help"),
        ("fo --xyz", "kafka-storage format --help"),
        ("info x", "it takes only options, and needs --config/-c; kafka-storage info --help"),
        ("format -t -c", "-t=VALUE takes any value; kafka-storage format --help"),
        (
            "format --clus --config x",
            "--cluster-id=VALUE takes any value; kafka-storage format --help",
        ),
        ("format -t", "kafka-storage format --help"),
    ],
)
def test_hint_suggests_a_similar_name(command_line: str, hint: str) -> None:
    assert run(*command_line.split()).errors[1] == f"hint: {hint} shows how it is used"


def test_ambiguous_prefix_of_our_names_is_refused() -> None:
    group = ToolGroup(
        "tool",
        syntax=Argparse4j(ours=frozenset({"look", "loop"})),
        lazy={"look": ("", ""), "loop": ("", "")},
    )

    with pytest.raises(click.UsageError, match="ambiguous command: lo could match look, loop"):
        group.make_context("tool", ["lo"])


def test_value_of_a_wrong_type_is_one_line_and_a_hint() -> None:
    first, second = run(*FORMAT_ARGS, "--timeout", "-1").errors
    assert (
        first == "kafka-storage: Invalid value for '--timeout': '-1' is not a number from 0 to 60"
    )
    assert second == f"hint: {USAGE.format(' format')}"

    first, second = run("info", "-c", "x", "--format", "xml").errors
    assert "'xml' is not one of 'text', 'json'" in first
    assert second == f"hint: {USAGE.format(' info')}"


@pytest.mark.parametrize(
    ("command_line", "usage"),
    [
        ("-h", ""),
        ("--help", ""),
        ("--he", ""),
        ("-h --unheard", ""),
        ("-h info", ""),
        ("info -h", " info"),
        ("info --he", " info"),
        ("inf -h", " info"),
        ("format -c nosuch -h", " format"),
        ("format -h --unheard", " format"),
        ("format -gh", " format"),
        ("format -hx", " format"),
        ("format -h -s -N", " format"),
        ("info -h @nosuch", " info"),
    ],
)
def test_help_wins_over_what_is_missing_and_what_follows(command_line: str, usage: str) -> None:
    done = run(*command_line.split())

    assert (done.code, done.err) == (0, "")
    assert f"Usage: kafka-storage{usage} [OPTIONS]" in done.text


def test_other_options_of_the_tool_win_too() -> None:
    done = run("--vers", "nosuch")

    assert (done.code, done.text, done.err) == (0, "4.3.1\n", "")


def test_help_has_examples_and_exit_codes() -> None:
    group, command, plain = (run(*args).text for args in (["-h"], ["format", "-h"], ["info", "-h"]))

    assert "Examples:\n  # a new identifier\n  kafka-storage random-uuid\n" in group
    assert "  version-mapping       Do version-mapping.\n" in group
    assert "Exit status:\n  0: done.\n  1: could not.\n" in group
    assert "# prepare a directory" in command
    assert "Exit status:" in command
    assert "Only in the manual" not in command
    assert "Examples" not in plain


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Files of arguments."""
    contents = {
        "info": b"info\n-c\nx\n",
        "config": b"-c\nx",
        "nested": b"info\n@config\n",
        "deep": b"@nested",
        "value": b"the value \n",
        "crlf": b"info\r\n-c\r\nx\r\n",
        "cr": b"info\r-c\rx",
        "one line": b"info -c x\n",
        "blank": b"info\n\n-c\nx\n",
        "empty": b"",
        "blank line": b"\n",
        "help": b"-h\n",
        "bad": b"info\n--unheard\nafter\n",
        "bytes": b"-c\nn\xff\xc3\xa9\x0b\xe2\x80\xa8n\x85\n",
        "loop": b"info\n@loop2\n",
        "loop2": b"-c\nx\n@loop\n",
        "self": b"@./self\n",
        "nul": b"-c\n\0\n",
        "long": b"x" * ((1 << 20) + 1),
        "wide": b"-g\n" * 30_000,
        "wider": b"@wide\n" * 30_000,
        "dash": b"--\n-c\n",
        "at": b"@\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("self")
    return tmp_path


@pytest.mark.parametrize(
    ("args", "config"),
    [
        pytest.param(["@info"], "x", id="all in a file"),
        pytest.param(["info", "@config"], "x", id="behind the subcommand"),
        pytest.param(["@nested"], "x", id="nested"),
        pytest.param(["@deep"], "x", id="nested twice"),
        pytest.param(["info", "-c", "@value"], "the value ", id="as a value"),
        pytest.param(["info", "-c", "@blank line"], "", id="an empty line"),
        pytest.param(["info", "-c", "@at"], "@", id="just @"),
        pytest.param(["@crlf"], "x", id="line ends of Windows"),
        pytest.param(["@cr"], "x", id="old line ends"),
        pytest.param(["@empty", "info", "@empty", "-c", "x", "@empty"], "x", id="nothing in it"),
        pytest.param(["info", "@config", "@config"], "x", id="twice"),
        pytest.param(["info", "@bytes"], "n\udcffé\x0b\u2028n\udc85", id="other signs end no line"),
    ],
)
def test_file_is_replaced_by_its_lines(args: list[str], config: str, files: Path) -> None:
    assert given(*args, cwd=files) == ("info", {"config": config})


TIP = "checking trailing white spaces or new lines in @file may help; "


@pytest.mark.parametrize(
    ("args", "reason", "hint"),
    [
        (["@nosuch"], "Could not read arguments from file 'nosuch'", "No such file or directory; "),
        (["info", "-c", "@nosuch"], "Could not read arguments from file 'nosuch'", "No such"),
        (["@directory"], "Could not read arguments from file 'directory'", "Is a directory; "),
        (["@loop"], "Could not read arguments from file 'loop'", "it names itself; "),
        (["@link"], "Could not read arguments from file './self'", "it names itself; "),
        (
            ["info", "@nul"],
            "Could not read arguments from file 'nul'",
            "it is too long, or not text; ",
        ),
        (["@long"], "Could not read arguments from file 'long'", "it is too long, or not text; "),
        (["format", "@wider"], "more than 100000 arguments in files", ""),
        (["@one line"], f"invalid choice: 'info -c x' {CHOICES}", f"perhaps info is meant; {TIP}"),
        (["@blank"], "unrecognized arguments: ' -c x'", TIP),
        (["@bad"], "unrecognized arguments: '--unheard'", TIP),
        (["info", "--", "@config"], "unrecognized arguments: '-c x'", TIP),
        (["info", "--unheard", "@bad"], "unrecognized arguments: '--unheard'", ""),
        (["@info", "x"], "unrecognized arguments: 'x'", ""),
        (["info", "x", "@nosuch"], "unrecognized arguments: 'x @nosuch'", "it takes only options"),
        (["info", "@dash"], "unrecognized arguments: '-c'", TIP),
        (["info", "-c", "@empty"], "argument --config/-c: expected one argument", ""),
        (
            ["info", "-c", "@config"],
            "argument --config/-c: expected one argument",
            "-c=VALUE takes",
        ),
    ],
)
def test_unreadable_file_of_arguments_is_refused(
    args: list[str], reason: str, hint: str, files: Path
) -> None:
    done = run(*args, cwd=files)

    first, second = done.errors
    assert (done.code, done.out) == (1, b"")
    assert first == f"kafka-storage: {reason}"
    assert second.startswith(f"hint: {hint or 'kafka-storage '}")


def test_pipe_is_a_file_of_arguments(files: Path) -> None:
    """As with `@<(command)` in a shell."""
    reading, writing = os.pipe()
    os.write(writing, b"info\n-c\nx\n")
    os.close(writing)

    assert given(f"@/dev/fd/{reading}") == ("info", {"config": "x"})
    os.close(reading)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (["x"], {"path": "x"}),
        (["x", "y", "z"], {"path": "x", "others": ["y", "z"]}),
        (["x", "-d", "1", "y", "-d2"], {"path": "x", "others": ["y"], "d": ["1", "2"]}),
        (["x", "--", "-d", "--", "-h"], {"path": "x", "others": ["-d", "--", "-h"]}),
        (["--", "-d"], {"path": "-d"}),
        (["-d", "", "-d=", "-5", "-"], {"path": "-5", "others": ["-"], "d": ["", ""]}),
        ([""], {"path": ""}),
    ],
)
def test_arguments_that_are_no_options(args: list[str], options: dict[str, object]) -> None:
    assert given("verify", *args) == ("verify", options)


def test_same_tool_is_a_command_of_kraftops() -> None:
    same = run("storage", "inf", "-cx", program="kraftops")
    wrong = run("storage", "format", "--i", program="kraftops")
    none = run("storage", program="kraftops")
    unknown = run("storage", "inof", program="kraftops")
    listed = run("storage", "-h", program="kraftops")
    misspelt = run("storag", program="kraftops")

    assert (same.code, json.loads(same.text)) == (0, ["kraftops storage info", {"config": "x"}])
    assert wrong.errors == [
        (
            "kraftops: ambiguous option: --i could match --ignore-formatted, --initial-controllers"
            " [usage]"
        ),
        "hint: kraftops storage format --help shows how it is used",
    ]
    assert none.errors == [
        "kraftops: too few arguments [usage]",
        "hint: kraftops storage --help shows how it is used",
    ]
    assert unknown.errors[1] == (
        "hint: perhaps info is meant; kraftops storage --help shows how it is used"
    )
    assert "Usage: kraftops storage [OPTIONS] COMMAND" in listed.text
    assert "perhaps storage is meant" in misspelt.errors[1]


@click.command(
    "unregister",
    cls=ToolCommand,
    syntax=Argparse4j(one_of=(("bootstrap_server", "bootstrap_controller"),), expands_files=False),
)
@click.option("--bootstrap-server", "-b")
@click.option("-C", "--bootstrap-controller")
@click.option("--id", "-i", type=int, required=True)
@click.pass_context
def unregister(ctx: click.Context, /, **options: object) -> int:
    return tell(ctx, **options)


@click.group(
    cls=ToolGroup,
    syntax=Argparse4j(expands_files=False),
    lazy={"unregister": (f"{__name__}:unregister", "Unregister a broker.")},
)
def cluster() -> None:
    pass


PROGRAMS["kafka-cluster"] = cluster


@pytest.mark.parametrize(
    ("command_line", "said"),
    [
        ("@x unregister", "invalid choice: '@x' (choose from 'unregister')"),
        (
            "unreg -i 1",
            "one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is required",
        ),
        ("unreg", "argument --id/-i is required"),
        ("unreg -b x", "argument --id/-i is required"),
        (
            "unreg -b x -C y",
            "argument --bootstrap-controller/-C: not allowed with argument --bootstrap-server/-b",
        ),
        ("unreg -b @x -i -5", '["kafka-cluster unregister", {"bootstrap_server": "@x", "id": -5}]'),
        ("unreg -C x -i 1", '["kafka-cluster unregister", {"bootstrap_controller": "x", "id": 1}]'),
    ],
)
def test_tool_without_files_and_with_options_of_which_one_is_needed(
    command_line: str, said: str
) -> None:
    """As kafka-cluster."""
    done = run(*command_line.split(), program="kafka-cluster")

    assert (done.errors or done.text.splitlines())[0].removeprefix("kafka-cluster: ") == said


def test_random_arguments_make_no_traceback() -> None:
    words = ["info", "format", "verify", "-c", "-t", "-gs", "-h", "--", "--i", "--feature", "x", ""]
    words += ["-", "--=", "-=", "@", "@nosuch", "-t=", "--dry", "-f=1", "-Iy", "\udcff", "\n", "-1"]

    @given_(st.lists(st.sampled_from(words), max_size=7))
    def check(args: list[str]) -> None:
        done = run(*args)
        assert done.code in (0, 1)
        assert len(done.errors) == 2 * done.code
        assert bool(done.out) == (done.code == 0)

    check()


@pytest.mark.parametrize(
    ("loaded", "other"),
    [("kraftops_cli.dump_log.command", "argparse4j"), ("kraftops_cli.syntax.argparse4j", "jopt")],
)
def test_tool_loads_only_its_own_syntax(loaded: str, other: str) -> None:
    code = f"import sys, {loaded}; sys.exit('kraftops_cli.syntax.{other}' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=False)

    assert done.returncode == 0
