"""Our form of the metadata shell as a process, on a real snapshot."""

from pathlib import Path

from tests.helpers.tools.console import METADATA_SHELL, Done, run_command
from tests.helpers.tools.corpus import SHELL

KRAFTOPS = str(Path(METADATA_SHELL).with_name("kraftops"))
DIRECTORY = SHELL / "in" / "n431"
SNAPSHOT = DIRECTORY / "__cluster_metadata-0" / "00000000000000000413-0000000001.checkpoint"
IMAGE = (
    "acls byBroker byDirectory byRack clientQuotas cluster configs delegationToken features "
    "producerIds provenance quorum scram topics"
)


def ours(*args: str, stdin: str = "", cwd: Path | str = ".", **environment: str) -> Done:
    """Run our form on a snapshot, with lines from a pipe if there is no command."""
    return run_command(
        "metadata-shell",
        "-s",
        str(SNAPSHOT),
        *args,
        program=KRAFTOPS,
        stdin=stdin.encode(),
        cwd=cwd,
        environment=environment,
    )
