"""Man pages and completions are current and complete."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kraftops_cli import root
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand, ToolGroup
from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_shell.commands.manual import manual_text
from kraftops_shell.grammar.registry import COMMANDS

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

import command_tree  # noqa: E402 - the scripts are no package
import completions  # noqa: E402
import generate  # noqa: E402

PROGRAMS = {program.words[0]: program for program in command_tree.programs()}
TOOLS = [tool for program in PROGRAMS.values() for tool in program.walk()]
COMPLETED = [tool for program in PROGRAMS.values() for tool in program.walk_completed()]
FILES = [
    "00.log",
    "00.index",
    "00.timeindex",
    "00.log.deleted",
    "00-1.checkpoint.part",
    "00.log.bak",
    "notes.txt",
    "topic-0/01.log",
    "my dir/02.log",
]
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: "-".join(tool.words))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with files that are dumped, and others."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def man_page(tool: command_tree.Tool) -> str:
    """Return the man page of a tool; a subcommand is in the page of its tool."""
    pages = ("-".join(tool.words[:count]) for count in range(len(tool.words), 0, -1))
    path = next(p for page in pages if (p := REPOSITORY / f"man/{page}.1").exists())
    text = path.read_text("utf-8")
    if text.startswith(".so man1/"):
        text = (REPOSITORY / "man" / text.split("/")[-1].strip()).read_text("utf-8")
    return text


def complete_bash(script: str, line: str, directory: Path) -> list[str]:
    """Return what bash offers at the end of *line*, of which readline takes `=` for a word."""
    words = re.findall(r"=|[^\s=]+", line) + ([""] if line.endswith(" ") else [])
    function = "_" + words[0].replace("-", "_")
    code = (
        f"set -u; {script}\nCOMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}\n"
        f"{function}; ((${{#COMPREPLY[@]}})) && printf '%s\\n' \"${{COMPREPLY[@]}}\"; true"
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], cwd=directory, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return sorted(done.stdout.splitlines())


def of_program(line: str, directory: Path) -> list[str]:
    script = (REPOSITORY / "completions/bash" / line.split(maxsplit=1)[0]).read_text("utf-8")
    return complete_bash(script, line, directory)


def shell(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def test_files_are_current() -> None:
    assert generate.stale() == [], "run scripts/generate.py"


def test_check_names_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check fails on missing, changed and superfluous files; the script mends and names them."""
    for name in generate.COPIES_OF_VERSION:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(generate.REPOSITORY / name, tmp_path / name)
    monkeypatch.setattr(generate, "REPOSITORY", tmp_path)
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert "man/kraftops.1" in capsys.readouterr().out.splitlines()
    (tmp_path / "man/kraftops.1").unlink()
    (tmp_path / "completions/zsh/_kraftops").write_text("#")
    (tmp_path / "man/kafka-gone.1").touch()
    (tmp_path / "packaging/ansible/galaxy.yml").write_text("version: 0.0.1\n")

    assert generate.main(["--check"]) == 1
    named = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    stale = ["completions/zsh/_kraftops", "man/kafka-gone.1", "man/kraftops.1"]
    assert named == [*stale, "packaging/ansible/galaxy.yml"]

    assert generate.main([]) == 0
    assert capsys.readouterr().out.splitlines() == named
    assert generate.main(["--check"]) == 0


@each_tool
def test_help_is_all_in_the_man_page(tool: command_tree.Tool) -> None:
    """Each option of --help is explained, each example and section is there."""
    page = man_page(tool)

    shown = set(
        re.findall(
            r"^ +(-[-\w]+)(?:, (-[-\w]+))?", tool.command.get_help(tool.context), re.MULTILINE
        )
    )
    for name in {name for pair in shown for name in pair if name}:
        assert re.search(
            rf"^\.TP\n.*{re.escape(generate.roff(name))}\\f.*\n.+", page, re.MULTILINE
        ), name
    for example in getattr(tool.command, "examples", {}).values():
        assert generate.roff(example) in page
    for title, text in getattr(tool.command, "sections", {}).items():
        heading = generate.roff(title)
        assert f".SH {heading.upper()}\n" in page or rf"\fB{heading}\fR" in page
        for line in text.splitlines():
            assert generate.roff(line.split(": ", 1)[-1]).removeprefix(r"\&") in page
    assert ".SH ENVIRONMENT\n.TP\n" in page


@pytest.mark.parametrize(
    "page", sorted((REPOSITORY / "man").glob("*.1")), ids=lambda page: page.stem
)
def test_no_sentence_is_torn_into_paragraphs(page: Path) -> None:
    torn = re.findall(r"^\.PP\n([a-z].*)", page.read_text("utf-8"), re.MULTILINE)

    assert torn == []


def test_man_page_has_the_manual_of_each_shell_command() -> None:
    """Each has its section, with the text of the shell's own `man`."""
    page = man_page(PROGRAMS["kafka-metadata-shell"])
    part = page.split("\n.SH SHELL COMMANDS\n")[1].split("\n.SH ")[0]
    sections = dict(section.split("\n", 1) for section in part.split("\n.SS ")[1:])

    assert list(sections) == [generate.roff(command.name) for command in COMMANDS]
    for command in COMMANDS:
        text = manual_text(command, 76, with_flags=True)
        section = sections[generate.roff(command.name)]
        assert section.strip() == f".EX\n{generate.roff(text)}.EE"


@pytest.mark.parametrize("tool", COMPLETED, ids=lambda tool: "-".join(tool.words))
def test_options_are_in_every_completion(tool: command_tree.Tool, tmp_path: Path) -> None:
    program = tool.words[0]
    zsh = (REPOSITORY / f"completions/zsh/_{program}").read_text("utf-8")
    fish = (REPOSITORY / f"completions/fish/{program}.fish").read_text("utf-8")
    in_bash = of_program(" ".join(tool.words) + " -", tmp_path)

    assert tool.options
    for name in (name for option in tool.options for name in command_tree.names(option)):
        assert name in in_bash
        assert re.search(rf"[')*]{name}=?\[", zsh)
        assert re.search(rf" -[lso] {name.lstrip('-')} ", fish)


def test_table_of_values_names_existing_options() -> None:
    there = {n for tool in TOOLS for option in tool.options for n in command_tree.names(option)}

    assert set(command_tree.VALUES) <= there


@each_tool
def test_man_page_has_no_accidental_requests(tool: command_tree.Tool) -> None:
    """No line of text begins as roff's requests do."""
    requests = {".TH", ".nh", ".SH", ".SS", ".TP", ".PP", ".RS", ".RE", ".EX", ".EE", ".br"}

    control = [line for line in man_page(tool).splitlines() if line.startswith((".", "'"))]

    assert {line.split()[0] for line in control} <= requests


@each_tool
def test_man_page_renders_without_warning(tool: command_tree.Tool) -> None:
    command = [shell("groff"), "-man", "-ww", "-Tutf8"]

    done = subprocess.run(command, input=man_page(tool), capture_output=True, text=True, check=True)

    assert "KraftOps Manual" in done.stdout
    assert not done.stderr


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        pytest.param(".log files", r"\&.log files", id="leading dot"),
        pytest.param("'tis", r"\(aqtis", id="leading quote"),
        pytest.param("--files a\\b", r"\-\-files a\eb", id="dashes and backslash"),
        pytest.param("a\n.b", "a\n\\&.b", id="dot on a later line"),
    ],
)
def test_roff_escapes_special_signs(text: str, escaped: str) -> None:
    assert generate.roff(text) == escaped


CLASSES = [
    f"org.apache.kafka.tools.api.{name}Decoder" for name in ("Default", "Integer", "Long", "String")
]
SHELL_COMMANDS = sorted(command.name for command in COMMANDS if command.is_one_shot)
LOG_FILES = ["00-1.checkpoint.part", "00.index", "00.log", "00.log.deleted", "00.timeindex"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        pytest.param(
            "kraftops ",
            sorted(root.COMMANDS),
            id="subcommands",
        ),
        pytest.param("kraftops --v", ["--version"], id="options of the group"),
        pytest.param("kraftops dump-log --dia", ["--dialect"], id="options of a subcommand"),
        pytest.param("kafka-dump-log --dia", ["--dialect"], id="options"),
        pytest.param("kafka-dump-log --dialect kip-631-", ["kip-631-draft"], id="choices"),
        pytest.param("kafka-dump-log --dialect=kip-631-", ["kip-631-draft"], id="after ="),
        pytest.param(
            "kafka-dump-log --dialect=", ["kafka", "kip-631", "kip-631-draft"], id="just after ="
        ),
        pytest.param("kafka-dump-log --key-decoder-class ", CLASSES, id="classes of keys"),
        pytest.param("kafka-dump-log --value-decoder-class=", CLASSES, id="classes of values"),
        pytest.param(
            "kafka-dump-log --key-decoder-class --offsets", ["--offsets-decoder"], id="no value"
        ),
        pytest.param("kafka-dump-log --max-bytes ", [], id="a value nobody can guess"),
        pytest.param("kafka-dump-log --max-bytes 1 --dia", ["--dialect"], id="after a value"),
        pytest.param("kafka-dump-log --files ", [*LOG_FILES, "my dir", "topic-0"], id="files"),
        pytest.param("kafka-dump-log --files topic-0/", ["topic-0/01.log"], id="in a directory"),
        pytest.param(
            "kraftops dump-log --files 00.log,00.i", ["00.log,00.index"], id="after a comma"
        ),
        pytest.param(
            "kafka-dump-log --files=00.log,t", ["00.log,topic-0/"], id="directory after a comma"
        ),
        pytest.param("kafka-dump-log --files notes", [], id="no log file"),
        pytest.param("kraftops dump-log che", ["check"], id="a part of a tool"),
        pytest.param("kraftops dump-log topic-0/", ["topic-0/01.log"], id="a path in its place"),
        pytest.param("kraftops dump-log my che", [], id="no part behind a path"),
        pytest.param("kraftops dump-log check --fo", ["--format"], id="options of a part"),
        pytest.param("kafka-metadata-shell ", ["cat", "find", "ls", "tree"], id="Kafka's commands"),
        pytest.param("kraftops metadata-shell ", SHELL_COMMANDS, id="our commands"),
        pytest.param("kraftops metadata-shell -s topic-0 ex", ["export"], id="after the source"),
        pytest.param("kafka-metadata-shell --snapshot n", ["notes.txt"], id="a source"),
        pytest.param("kafka-metadata-shell -s my", ["my dir"], id="a source that is a directory"),
        pytest.param("kafka-metadata-shell -c n", ["notes.txt"], id="a configuration"),
        pytest.param("kafka-metadata-shell --command-config=n", ["notes.txt"], id="a login"),
        pytest.param("kafka-metadata-shell --dialect kip-631-", ["kip-631-draft"], id="a dialect"),
        pytest.param("kafka-metadata-shell ls no", [], id="no files for paths of the tree"),
        pytest.param("kafka-metadata-shell ls --sn", ["--snapshot"], id="options after a command"),
        pytest.param("kraftops metadata-shell ls --so", ["--sort"], id="options of a command"),
        pytest.param("kraftops metadata-shell find -t", ["-type"], id="options with one dash"),
        pytest.param("kraftops metadata-shell find -type ", ["d", "f"], id="their values"),
        pytest.param(
            "kraftops metadata-shell diff --format ",
            ["json", "ndjson", "text"],
            id="its own values first",
        ),
        pytest.param("kraftops metadata-shell verify n", ["notes.txt"], id="sources of a command"),
        pytest.param(
            "kraftops metadata-shell verify --log-dirs ", ["my dir", "topic-0"], id="directories"
        ),
        pytest.param("kraftops metadata-shell export --output n", ["notes.txt"], id="its file"),
    ],
)
def test_bash_offers(line: str, offered: list[str], directory: Path) -> None:
    assert of_program(line, directory) == offered


@click.command(
    "info",
    cls=ToolCommand,
    syntax=Argparse4j(),
    examples={"show it": "kafka-made-up info ."},
    sections={"Exit status": "0: done.\n1: not done.", "Notes": ".It is 'so'."},
    help="Tell of 'storage'.",
)
@click.option("-t", "--cluster-id", help="The [id]: it's typed.")
@click.option("-d", "--directory", type=click.Path(file_okay=False), help="Where.")
@click.option("-x", type=click.Choice(["one", "two"]), help="Only short.")
@click.argument("config", type=click.File())
def info(**_: object) -> None:
    pass


@click.group(
    "storage",
    cls=ToolGroup,
    syntax=Argparse4j(),
    lazy={"info": (f"{__name__}:info", "Tell.")},
    examples={"help": "kafka-made-up -h"},
    sections={"Exit status": "0: done."},
    help="Work on storage.",
)
def storage() -> None:
    pass


@click.group(cls=LazyGroup, lazy={"storage": (f"{__name__}:storage", "Work.")})
def made_up() -> None:
    """Made-up tool."""


MADE_UP = command_tree.Tool.of(made_up, ("made-up",))
KAFKA_MADE_UP = command_tree.Tool.of(storage, ("kafka-made-up",))


def test_tool_with_subcommands_has_one_page() -> None:
    """Under the name of its own; its subcommands are sections with all that a page has."""
    group, tool = MADE_UP.pages()
    assert [*KAFKA_MADE_UP.pages()] == [KAFKA_MADE_UP]
    assert [*group.words, *tool.words] == ["made-up", "made-up", "storage"]

    page = generate.man_page([KAFKA_MADE_UP, tool], ["made-up"])

    assert "\nkafka\\-made\\-up, made\\-up\\-storage \\- work on storage\n" in page
    headings = re.findall(r"^\.S[HS] (.*)", page, re.MULTILINE)
    assert headings == [
        *("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "info", "OPTIONS"),
        *("MEMORY AND TERMINAL", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"),
    ]
    section = page.split("\n.SS info\n")[1].split("\n.SH ")[0]
    assert section.splitlines() == [
        r"\fBkafka\-made\-up info\fR \fI[OPTIONS] CONFIG\fR",
        ".PP",
        r"Tell of \(aqstorage\(aq.",
        ".TP",
        r"\fB\-t\fR, \fB\-\-cluster\-id\fR \fITEXT\fR",
        r"The [id]: it\(aqs typed.",
        ".TP",
        r"\fB\-d\fR, \fB\-\-directory\fR \fIDIRECTORY\fR",
        "Where.",
        ".TP",
        r"\fB\-x\fR \fI[one|two]\fR",
        "Only short.",
        ".TP",
        r"\fB\-V\fR, \fB\-\-version\fR",
        "Show the version and exit.",
        ".PP",
        r"\fBExamples\fR",
        ".PP",
        "Show it:",
        *(".RS 4", ".EX", r"kafka\-made\-up info .", ".EE", ".RE"),
        ".PP",
        r"\fBExit status\fR",
        *(".TP", r"\fB0\fR", "done.", ".TP", r"\fB1\fR", "not done."),
        ".PP",
        r"\fBNotes\fR",
        ".PP",
        r"\&.It is \(aqso\(aq.",
    ]


def test_bash_completes_names_in_conditions(tmp_path: Path) -> None:
    """Columns, and fields of keys and values."""
    offered = of_program("kafka-dump-log --where value.lead", tmp_path)
    columns = of_program("kafka-dump-log --where topic", tmp_path)

    assert {"value.leader", "value.leaderEpoch"} <= set(offered)
    assert columns == ["topic", "topicId"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        pytest.param("made-up ", ["storage"], id="group in a group"),
        pytest.param("made-up storage ", ["info"], id="its command"),
        pytest.param("made-up storage info -t ", [], id="short option with a value"),
        pytest.param("made-up storage info -d ", ["my dir", "topic-0"], id="directories"),
        pytest.param("made-up storage info -x ", ["one", "two"], id="choices of a short option"),
        pytest.param("made-up storage info no", ["notes.txt"], id="argument"),
        pytest.param(
            "made-up storage info -",
            ["--cluster-id", "--directory", "--help", "--version", "-V", "-d", "-h", "-t", "-x"],
            id="all",
        ),
        pytest.param(
            "made-up storage -", ["--help", "--version", "-V", "-h"], id="options of the tool"
        ),
        pytest.param("kafka-made-up ", ["info"], id="the tool by itself"),
        pytest.param("kafka-made-up info --cl", ["--cluster-id"], id="option of its command"),
        pytest.param("kafka-made-up info --directory=t", ["topic-0"], id="value of its command"),
    ],
)
def test_bash_completes_made_up_commands(line: str, offered: list[str], directory: Path) -> None:
    """Groups in groups, short options, directories and arguments need no table."""
    program = MADE_UP if line.startswith("made-up ") else KAFKA_MADE_UP
    script = completions.bash(program)

    assert complete_bash(script, line, directory) == offered


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_syntax_is_right(name: str) -> None:
    """The shell parses the completions of all programs, and of commands to come."""
    complete = getattr(completions, name)
    tools = [*PROGRAMS.values(), MADE_UP, KAFKA_MADE_UP]

    for tool in tools:
        subprocess.run(
            [shell(name), "-n", "/dev/stdin"], input=complete(tool), text=True, check=True
        )


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        pytest.param(
            "kraftops ",
            sorted(root.COMMANDS),
            id="subcommands",
        ),
        pytest.param("kraftops dump-log --dia", ["--dialect"], id="options of a subcommand"),
        pytest.param("kraftops dump-log che", ["check"], id="a part of a tool"),
        pytest.param("kraftops dump-log check --fo", ["--format"], id="options of a part"),
        pytest.param("kafka-dump-log --dialect kip-631-", ["kip-631-draft"], id="choices"),
        pytest.param("kafka-dump-log --key-decoder-class ", CLASSES, id="classes"),
        pytest.param("kafka-dump-log --max-bytes ", [], id="a value nobody can guess"),
        pytest.param("kafka-dump-log --files ", [*LOG_FILES, "my dir/", "topic-0/"], id="files"),
        pytest.param(
            "kafka-dump-log --files=00.log,t", ["--files=00.log,topic-0/"], id="after a comma"
        ),
        pytest.param("kafka-metadata-shell ", ["cat", "find", "ls", "tree"], id="Kafka's commands"),
        pytest.param("kraftops metadata-shell ", SHELL_COMMANDS, id="our commands"),
        pytest.param("kafka-metadata-shell -s n", ["notes.txt"], id="a source"),
        pytest.param("kafka-metadata-shell ls no", [], id="no files for paths of the tree"),
        pytest.param("kraftops metadata-shell find -typ", ["-type"], id="options with one dash"),
        pytest.param("kraftops metadata-shell find -type ", ["d", "f"], id="their values"),
        pytest.param("kraftops metadata-shell verify n", ["notes.txt"], id="sources of a command"),
        pytest.param("made-up storage info -d ", ["my dir/", "topic-0/"], id="directories"),
        pytest.param("made-up storage info no", ["notes.txt"], id="argument"),
        pytest.param("made-up storage ", ["info"], id="subcommands of a tool"),
        pytest.param("kafka-made-up ", ["info"], id="the tool by itself"),
        pytest.param("kafka-made-up info -x ", ["one", "two"], id="choices of a short option"),
    ],
)
def test_fish_offers(line: str, offered: list[str], directory: Path) -> None:
    made_up_ones = {"made-up": MADE_UP, "kafka-made-up": KAFKA_MADE_UP}
    program = (PROGRAMS | made_up_ones)[line.split(maxsplit=1)[0]]
    code = f"{completions.fish(program)}\ncomplete -C {shlex.quote(line)}"

    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", code],
        cwd=directory,
        env={**os.environ, "HOME": str(directory)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert sorted(found.split("\t")[0] for found in done.stdout.splitlines()) == offered
