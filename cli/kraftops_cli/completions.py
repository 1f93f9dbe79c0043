"""`kraftops completions`: put the completions of a shell where this user's shell looks for them."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import click

from kraftops.errors import RefusedError, SourceError, UsageError
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import exit_status, manual
from kraftops_cli.syntax.command import ToolGroup, tool_command
from kraftops_cli.terminal.streams import Terminal


class Shell(NamedTuple):
    """Where completions of a shell come from, where a user keeps them, and how they are loaded."""

    shared: str
    """The directory below the prefix of an install."""
    variable: str
    """The XDG variable with the directory of the user, and without it, the one below HOME."""
    home: str
    folder: str
    loading: str


SHELLS = {
    "bash": Shell(
        shared="share/bash-completion/completions",
        variable="XDG_DATA_HOME",
        home=".local/share",
        folder="bash-completion/completions",
        loading="A new shell loads them if it has the package bash-completion. In this one:\n"
        "  . {folder}/kraftops",
    ),
    "zsh": Shell(  # looks nowhere in a home by itself
        shared="share/zsh/site-functions",
        variable="XDG_DATA_HOME",
        home=".local/share",
        folder="zsh/site-functions",
        loading="Put this into ~/.zshrc, before compinit:\n  fpath=({folder} $fpath)",
    ),
    "fish": Shell(
        shared="share/fish/vendor_completions.d",
        variable="XDG_CONFIG_HOME",
        home=".config",
        folder="fish/completions",
        loading="fish loads them by itself, also in this shell.",
    ),
}
_OURS = b"Made by scripts/generate.py"
"""What the first lines of all our completions have."""
_FIRST_BYTES = 200  # of a file, in which our mark would be


@click.group(
    cls=ToolGroup,
    syntax=Argparse4j(expands_files=False),
    name="completions",
    lazy={"install": (".completions:install", "Write them for this user.")},
    examples={
        "for the shell that you use": "kraftops completions install",
    },
    sections=exit_status(),
    help="Completions of all commands for bash, zsh and fish.",
)
def completions() -> None:
    """Do nothing: the command does the work."""


@tool_command(
    Argparse4j(expands_files=False),
    name="install",
    **manual(__file__, "completions_install.txt"),
)
@click.option("--shell", type=click.Choice(tuple(SHELLS)), help="The shell. Default: $SHELL.")
def install(terminal: Terminal, /, shell: str | None) -> int:
    """Write the files, and print their paths."""
    from kraftops.display import quoting
    from kraftops.fileio.atomic import write_file
    from kraftops.fileio.directories import make_directories

    name = shell or _usual_shell(os.environ)
    folder = _folder(SHELLS[name], os.environ)
    scripts = {os.path.join(folder, file): text for file, text in _scripts(SHELLS[name])}
    for path in scripts:
        _refuse_others(path)
    make_directories(folder, None, [])
    for path, text in scripts.items():
        write_file(path, f"{path}.tmp", [text])
        terminal.write(f"{path}\n")
    terminal.write(SHELLS[name].loading.format(folder=quoting.quote(folder)) + "\n")
    return 0


def _usual_shell(environment: Mapping[str, str]) -> str:
    """Return the name of the shell in SHELL.

    Raises:
        UsageError: there is none, or none that has completions.
    """
    name = os.path.basename(environment.get("SHELL", ""))
    if name not in SHELLS:
        reason = f"there are no completions for {name}" if name else "SHELL is not set"
        raise UsageError(reason, hint=f"--shell {', '.join(SHELLS)}: one of these")
    return name


def _folder(shell: Shell, environment: Mapping[str, str]) -> str:
    """Return the directory of the user's completions.

    Raises:
        UsageError: there is no home directory.
    """
    base = environment.get(shell.variable, "")
    if not os.path.isabs(base):  # the XDG specification ignores relative paths
        home = environment.get("HOME", "")
        if not os.path.isabs(home):
            raise UsageError("HOME is not set", hint=f"or set {shell.variable} to a directory")
        base = os.path.join(home, shell.home)
    return os.path.join(base, shell.folder)


def _scripts(shell: Shell) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the text of each file that this install has.

    Raises:
        SourceError: it has none.
    """
    import site

    # pip puts them below the prefix, with --user below that of the user, and as root on Debian
    # below /usr/local, though the prefix is /usr.
    prefixes = (sys.prefix, site.getuserbase(), os.path.join(sys.prefix, "local"))
    for prefix in prefixes:
        folder = os.path.join(prefix, shell.shared)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        scripts = [file for file in names if _is_ours(os.path.join(folder, file))]
        for file in scripts:
            with open(os.path.join(folder, file), "rb") as content:
                yield file, content.read()
        if scripts:
            return
    raise SourceError(
        f"this install has no completions in {os.path.join(sys.prefix, shell.shared)}",
        hint="install the wheel, or the source distribution, with pip",
        code="not-found",
    )


def _is_ours(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as content:
        return _OURS in content.read(_FIRST_BYTES)


def _refuse_others(path: str) -> None:
    """Raise RefusedError if there is a file that an install did not write."""
    if os.path.lexists(path) and not _is_ours(path):
        raise RefusedError(
            f"{path} exists, and is not kraftops'",
            hint="move it away, or set another directory",
            code="exists",
        )
