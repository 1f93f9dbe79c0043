"""Script of one host in a plan of a cluster: its guards, and what it does to the metadata log.

Guards compare the answer of `kafka-storage info` with the disk that was copied, so that a script
does nothing on another host, on another node's disk, or while a server runs.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from kraftops.display import quoting
from kraftops.display.sizes import named
from kraftops.fileio.packaged import packaged_parts
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.node_copies import NodeCopy
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.target_voters import HostPort
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.records import FILE_NAME as BOOTSTRAP_FILE
from kraftops.storage.config.server_config import ServerConfig
from kraftops.uuids import to_text

_q = quoting.quote
_WORD = re.compile(r"^@(\w+)@\n|@(\w+)@", re.MULTILINE)
_json = partial(json.dumps, ensure_ascii=False)
"""Returns a text as `info` prints it."""

LOG_ARCHIVE = "metadata-log.tar.gz"
"""The recovered log, in the directory of the plan."""
AUTO_JOIN = "controller.quorum.auto.join.enable"
VOID_NAMES = (METADATA_PARTITION, BOOTSTRAP_FILE, META_FILE)
"""What a lost voter loses before it joins again; of a broker all partitions stay.

A run that was killed is repeated while there is a meta.properties, which goes last."""


class Role(StrEnum):
    """What becomes of a node."""

    VOTER = "voter"
    """It gets the recovered log, and votes."""
    JOINS = "joins"
    """It was a voter, gets an empty log and a new id, and joins again."""
    BROKER = "broker"
    """It follows; if its log has other records, it fetches a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host of the plan.

    Attributes:
        copy: the node, with its configuration.
        role: what becomes of it.
        directory_id: the id of its metadata directory before; None if it is unknown.
        is_broker: whether it is a registered broker, also beside its role.
        log: its metadata log; None without one.
        is_ahead: whether its log has records that the recovered one lacks.
        joins_itself: whether it adds itself to the voters.
        starts_after: the brokers that alone have newest copies of partitions, and start before it.
    """

    copy: NodeCopy
    role: Role
    directory_id: bytes | None
    is_broker: bool
    log: LogCopy | None
    is_ahead: bool
    joins_itself: bool
    starts_after: tuple[int, ...]

    @property
    def node_id(self) -> int:
        assert self.copy.config
        return self.copy.config.node_id

    @property
    def script_name(self) -> str:
        return f"node-{self.node_id}.sh"


def addresses(voters: Iterable[Voter]) -> str:
    """Return the addresses of voters, as `controller.quorum.bootstrap.servers` has them."""
    return ",".join(str(HostPort(voter.host, voter.port)) for voter in voters)


def _filled(part: str, **values: object) -> str:
    return _WORD.sub(
        lambda word: str(values[word[1] or word[2]]),
        packaged_parts(__file__, "host_script.sh", "---- ")[part],
    )


def host_script(host: Host, plan: RecoveryPlan) -> str:
    """Write the shell script that a host runs: guards first, then the work of its role."""
    config = host.copy.config
    assert config
    place = f'"path": {_json(config.metadata_log_dir)}, "isMetadata": true'
    formatted = f'{place}, "exists": true, "isFormatted": true'
    identity = f'{formatted}, "clusterId": {_json(plan.cluster_id)}, "nodeId": {host.node_id}'
    known_id = to_text(host.directory_id) if host.directory_id else ""
    joins = host.role is Role.JOINS
    is_added = joins and not host.joins_itself
    join = _filled("join", node_id=host.node_id, cluster_id=_q(plan.cluster_id)) if is_added else ""
    guards = _filled(
        "guards",
        node_id=host.node_id,
        role=host.role.value,
        script=host.script_name,
        action=_filled("action") if joins else "",
        config=_q(host.copy.config_path or ""),
        directory=_q(config.metadata_log_dir),
        host=_q(host.copy.host or ""),
        servers=_q(addresses(plan.new_voters)),
        on_host=_filled("on_host") if host.copy.host else "",
        place=_q(place),
        formatted=_q(formatted),
        identity=_q(identity),
        old_disk=_q(f'{identity}, "directoryId": {_json(known_id)}'),
        join=join,
    )
    return guards + {Role.VOTER: _voter, Role.JOINS: _joins, Role.BROKER: _broker}[host.role](
        host, plan
    )


def _voter(host: Host, plan: RecoveryPlan) -> str:
    # In the plan of a log that is as it was when it was copied.
    epoch, end = (host.log.epoch, host.log.end) if host.log else (0, 0)
    return _filled(
        "voter",
        node_id=host.node_id,
        script=host.script_name,
        archive=LOG_ARCHIVE,
        voters=_q(",".join(map(str, plan.new_voters))),
        choice=' --choose "$log"' if plan.is_named else "",
        epoch=epoch,
        end=end,
    )


def _joins(host: Host, plan: RecoveryPlan) -> str:
    return _filled(
        "joins",
        node_id=host.node_id,
        saved=_saved(host, VOID_NAMES),
        meta_file=META_FILE,
        log=METADATA_PARTITION,
        format=quoting.join(format_command(host.copy.config, plan, is_broker=host.is_broker)),
    )


def format_command(
    config: ServerConfig | None, plan: RecoveryPlan, *, is_broker: bool
) -> list[str]:
    """Return the command of `kafka-storage` that formats a lost voter, but the option `-c`.

    *config* is its configuration, or one like it; None where none is at hand.
    """
    command = ["format", f"--cluster-id={plan.cluster_id}", "--no-initial-controllers"]
    has_more = is_broker
    if config:
        has_more = {*config.log_dirs, config.metadata_log_dir} != {config.metadata_log_dir}
    # Where there are no other directories, it would hide a disk that was not wiped.
    command += ["--ignore-formatted"] if has_more else []
    # A server cannot read what a later release would begin with.
    command += ["--release-version", plan.release] if plan.release else []
    return [*command, "--force"] if is_broker else command


def _broker(host: Host, _plan: RecoveryPlan) -> str:
    order = ""
    if host.starts_after:
        order = _filled("order", others=named("broker", host.starts_after))
    if not host.is_ahead:
        return _filled("unchanged_broker", node_id=host.node_id, order=order)
    saved = _saved(host, (METADATA_PARTITION,))
    return _filled(
        "broker", node_id=host.node_id, script=host.script_name, saved=saved, order=order
    )


def _saved(host: Host, names: tuple[str, ...]) -> str:
    """Return shell lines that pack files beside the script, then remove them in this order."""
    paths = " ".join(f'"$directory/{name}"' for name in names)
    return _filled("saved", node_id=host.node_id, names=" ".join(names), paths=paths)
