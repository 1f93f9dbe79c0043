"""`kafka-storage verify`: check that servers would start on their directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kraftops.findings.finding import Finding, counts_text, exit_code, worst_first
from kraftops_cli.storage.options import override_option
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES, print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks, finding_line
from kraftops_terminal.tables import table_of, table_text

if TYPE_CHECKING:
    from kraftops.storage.logdirs.node import Node
    from kraftops.storage.verify.answer import VerifiedNode, VerifyAnswer
    from kraftops.storage.verify.release import AssumedRelease, Target


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """The values of the options; *configs* are the nodes of one cluster."""

    configs: tuple[str, ...] = option(
        "--config",
        "-c FILE",
        multiple=True,
        required=True,
        help="The configuration file of a node; may be given more than once.",
    )
    cluster_id: str | None = option(
        "--cluster-id", "-t ID", help="The cluster id that is expected."
    )
    release_version: str | None = option(
        "--release-version RELEASE",
        help="The release that is to run the nodes, such as 3.9.  [default: the one that has]",
    )
    kafka_home: str | None = option(
        "--kafka-home DIR",
        type=click.Path(),
        help="The installation that is to run the nodes; its jars have the release and the"
        " classes.",
    )
    here: bool = flag("--here", help="Check addresses and ports of listeners on this host.")
    resolve: bool = flag(
        "--resolve",
        help="Look up the names of listeners, voters and bootstrap servers, within 5 seconds.",
    )
    overrides: tuple[str, ...] = override_option()
    form: str = option("--format", **FORM_ATTRIBUTES)


@tool_command(
    Argparse4j(kafkas=frozenset()),
    answer="kraftops.storage.verify.answer:VERIFY",
    options=VerifyOptions,
)
def verify(terminal: Terminal, options: VerifyOptions) -> int:
    from kraftops.checkup.copies_check import with_intact_copies
    from kraftops.checkup.examination import Examination
    from kraftops.image.verify.nodes import verify_nodes
    from kraftops.storage.config.host import LocalKafka
    from kraftops.storage.logdirs.node import majority_unknown, read_node, voters_not_given
    from kraftops.storage.verify.answer import VERIFY, VerifyAnswer
    from kraftops.storage.verify.configurations import load_configs

    form = options.form
    target = _target(options.release_version, options.kafka_home)
    kafkas = [LocalKafka(path, options.overrides) for path in options.configs]
    configs, refused = load_configs(kafkas, target)
    nodes = [read_node(config, terminal.budget) for config in configs]
    verified = verify_nodes(
        nodes, options.cluster_id, resolves=options.resolve, is_here=options.here, target=target
    )
    findings = [*refused, *with_intact_copies(verified.findings, Examination(kafkas))]
    answered = VerifyAnswer(
        verified_nodes(nodes, verified.releases, findings), worst_first(findings)
    )
    is_drawn = form == "text" and terminal.console.is_drawn_on
    if form == "text" and not is_drawn:
        for finding in findings:
            if not finding.is_severe:
                terminal.line(finding_line(finding))
        if exit_code(findings):
            for node in answered.nodes:
                terminal.line(_as_line(node))
    if form == "text" and (voters := voters_not_given(nodes)):
        terminal.line(majority_unknown(voters))
    print_answer(
        terminal,
        VERIFY.fields,
        answered,
        lambda: drawn_findings(terminal.console, answered) if is_drawn else _as_text(answered),
    )
    return exit_code(findings)


def _target(release_version: str | None, kafka_home: str | None) -> Target | None:
    """Return what is to run the nodes.

    Raises:
        UsageError: the release is unknown, or another one than that of the installation.
        SourceError: the installation cannot be read.
    """
    from kraftops.errors import UsageError
    from kraftops.storage.releases.installation import read_installation
    from kraftops.storage.verify.release import Target, target_named

    target = target_named(release_version)
    if kafka_home is None:
        return target
    installation = read_installation(kafka_home)
    if target and target.release != installation.release:
        raise UsageError(
            f"{kafka_home} is Kafka {installation.release.name}, not {release_version}",
            hint="give one of --release-version and --kafka-home",
        )
    return Target(installation.release, installation)


def _as_text(answered: VerifyAnswer) -> str:
    lines = [finding_line(finding) for finding in answered.findings if finding.is_severe]
    if not lines:
        lines = [_as_line(verified) for verified in answered.nodes]
    return "".join(f"{line}\n" for line in lines)


def _as_line(verified: VerifiedNode) -> str:
    config = verified.node.config
    return escaped(f"{config.path}: node {config.node_id} {verified.state} ({verified.release})")


def verified_nodes(
    nodes: Sequence[Node], releases: Sequence[AssumedRelease], findings: Sequence[Finding]
) -> list[VerifiedNode]:
    """Return nodes with their releases, and the findings about their own files."""
    from kraftops.storage.verify.answer import VerifiedNode

    return [
        VerifiedNode(node, release, [finding for finding in findings if _is_about(finding, node)])
        for node, release in zip(nodes, releases, strict=True)
    ]


def drawn_findings(console: Console, answered: VerifyAnswer) -> Iterator[str]:
    """Yield a table of nodes, then the findings of each with their cures, and those of none."""
    from kraftops.storage.verify.answer import NODE

    yield table_text(console, table_of(NODE, answered.nodes))
    of_cluster = list(answered.findings)
    for verified in answered.nodes:
        config = verified.node.config
        if verified.findings:
            yield _title(console, f"node {config.node_id}: {config.path}")
            yield from finding_blocks(console, verified.findings)
            of_cluster = [finding for finding in of_cluster if finding not in verified.findings]
    if of_cluster:
        yield _title(console, "cluster")
        yield from finding_blocks(console, of_cluster)
    yield f"\n{counts_text(answered.findings) or 'no findings'}\n"


def _title(console: Console, text: str) -> str:
    return "\n" + console.painted(escaped(text), "title") + "\n"


def _is_about(finding: Finding, node: Node) -> bool:
    path = finding.place.path
    places = [node.config.path, *(directory.path for directory in node.directories)]
    return any(path == place or path.startswith((f"{place}/", f"{place}:")) for place in places)
