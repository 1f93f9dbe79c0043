"""`kafka-storage rewrite`: change the ids of formatted directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops_cli.storage.options import NodeOptions, dry_run_option, metadata_option, warn_of_id
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped

if TYPE_CHECKING:
    from kraftops.storage.format.rewrite import Rewrite


@dataclass(frozen=True, kw_only=True)
class RewriteOptions(NodeOptions):
    """The values of the options."""

    cluster_id: str | None = option("--cluster-id", "-t ID", help="The new cluster id.")
    node_id: int | None = option("--node-id N", type=Number(0x7FFFFFFF), help="The new node id.")
    to_v1: bool = flag("--to-v1", help="Make version 1 of version 0.")
    metadata: tuple[str, ...] = metadata_option()
    force: bool = flag(
        "--force",
        help="Change the node id although the metadata has the directory, or partitions in it, on"
        " other brokers.",
    )
    dry_run: bool = dry_run_option()


@tool_command(
    Argparse4j(kafkas=frozenset({"config"})),
    options=RewriteOptions,
    answer="kraftops.storage.format.describe:REWRITE",
)
def rewrite(terminal: Terminal, options: RewriteOptions) -> int:
    from kraftops.errors import RefusedError
    from kraftops.image.verify.directories import OTHER_BROKER
    from kraftops.image.verify.losses import refusal, takeover_by
    from kraftops.storage.format.describe import REWRITE, RewriteOutcome
    from kraftops.storage.format.rewrite import RewriteRequest, conflicts, plan_rewrite
    from kraftops.storage.format.rewrite import rewrite as rewrite_all

    is_dry = options.dry_run
    request = RewriteRequest(
        cluster_id=options.cluster_id, node_id=options.node_id, to_v1=options.to_v1
    )
    if request.cluster_id is not None:
        warn_of_id(terminal, request.cluster_id, strict=False)
    loaded = options.load()
    planned = plan_rewrite(loaded, request)
    takeover = takeover_by(planned, options.metadata)
    for path in takeover.unchecked:
        terminal.error(
            f"warning: {path} holds partitions, and there is no metadata log that says of which "
            "broker",
            hint="--metadata DIR names one",
        )
    if takeover.lost:
        refused = refusal(takeover.lost)
        if not options.force:
            raise refused
        terminal.error(f"warning: {refused.message}")
    for message, hint, is_proof in conflicts(loaded, planned):
        if is_proof and not options.force:
            forced = f"{hint}; --force changes it anyway"
            raise RefusedError(message, forced, code=OTHER_BROKER, changed=False)
        terminal.error(f"warning: {message}", hint)
    if not is_dry:
        rewrite_all(planned)
    print_answer(
        terminal,
        REWRITE.fields,
        RewriteOutcome(planned, is_dry),
        lambda: _lines(planned, "would change" if is_dry else "changed"),
    )
    return 0


def _lines(planned: Sequence[Rewrite], verb: str) -> Iterator[str]:
    for rewrite in planned:
        for key, values in rewrite.changes.items():
            old, new = ("(none)" if value is None else value for value in values)
            yield escaped(f"{rewrite.directory.meta_path}: {verb} {key}: {old} -> {new}") + "\n"
        if not rewrite.changes:
            yield escaped(f"{rewrite.directory.meta_path}: nothing to change") + "\n"
