"""Recorded output of Kafka's ClusterTool, and a comparison with ours."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.tools.console import CLUSTER, Done, run_command, run_here

DATA = Path(__file__).parents[2] / "data" / "cluster"
_WARNINGS = r"(kafka-cluster: warning: .+\n(hint: .+\n)?)*"
_ERR = _WARNINGS + r"kafka-cluster: .+\n(hint: .+\n)?"
_PORT = re.compile(r"(localhost +)(\d{4,5})( *)")


@dataclass(frozen=True)
class Case:
    """A call of Kafka's tool; *ours* is `force` if ours needs --force, `better` if it may differ."""

    name: str
    setup: str
    args: list[str]
    exit: int
    stdout: str
    ours: str = ""

    def arguments(self, values: Mapping[str, str]) -> list[str]:
        """Return the arguments with *values* for the placeholders."""
        found = [self._filled(each, values) for each in self.args]
        return [*found, "--force"] if self.ours == "force" else found

    @staticmethod
    def _filled(text: str, values: Mapping[str, str]) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], text)


VERSION_OPTION = "version-option"
"""Kafka's tool knows no version, and refuses the option: ours has it."""


def cases(*setups: str) -> list[Case]:
    """Return the cases of some setups, in their order."""
    lines = (DATA / "transcripts.jsonl").read_text("utf-8").splitlines()
    found = [Case(**json.loads(line)) for line in lines]
    chosen = [case for case in found if case.setup.split(";")[0] in setups]
    return [case for case in chosen if case.name != VERSION_OPTION]


def write_files(folder: Path) -> Path:
    """Make the files of the directory in which the tool ran."""
    for name, text in json.loads((DATA / "files.json").read_text("utf-8")).items():
        (folder / name).write_text(text)
    (folder / "adir").mkdir()
    return folder


def masked(text: str) -> str:
    """Return a table without ports, whose columns are padded."""
    return _PORT.sub(
        lambda found: f"{found[1]}PORT{' ' * (len(found[2]) + len(found[3]) - 4)}", text
    )


def difference(case: Case, folder: Path, values: Mapping[str, str], *, here: bool) -> str:
    """Run ours; return the difference from Kafka's tool, or an empty text."""
    run = run_here if here else run_command
    arguments = case.arguments(values)
    done: Done = run(*arguments, cwd=folder, program=CLUSTER)
    shown = f"{case.name}: {' '.join(arguments)}: {done.code}, {done.text!r}, {done.err!r}"
    if "Traceback" in done.err or not re.fullmatch(_ERR if done.code else _WARNINGS, done.err):
        return shown
    if case.ours == "better":
        return ""
    if (done.code, masked(done.text)) != (case.exit, case.stdout):
        return shown
    if done.code and _is_about_a_server(done.err) and not _addresses(arguments, done.err):
        return shown
    return ""


def _is_about_a_server(err: str) -> bool:
    local = ("argument", "usage", "too few", "invalid choice", "ambiguous", "address", "file",
             "properties", "one of the", "specified together", "--help", "only supported",
             "cannot read")  # fmt: skip
    return not any(word in err for word in local)


def _addresses(arguments: list[str], err: str) -> bool:
    """Tell whether an error names an address that was given."""
    given = [entry for each in arguments for entry in each.split(",") if ":" in entry]
    return any(entry.rpartition("//")[2].strip() in err for entry in given)
