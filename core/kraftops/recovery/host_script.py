"""Script of one host in a plan of a cluster: its guards, and what it does to the metadata log.

Guards compare the answer of `kafka-storage info` with the disk that was copied, so that a script
does nothing on another host, on another node's disk, or while a server runs.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from kraftops.display.sizes import named
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

_q = shlex.quote
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


def host_script(host: Host, plan: RecoveryPlan) -> str:
    """Write the shell script that a host runs: guards first, then the work of its role."""
    body = {Role.VOTER: _voter, Role.JOINS: _joins, Role.BROKER: _broker}[host.role](host, plan)
    is_added = host.role is Role.JOINS and not host.joins_itself
    join = _join(host, plan.cluster_id) if is_added else ""
    return _guards(host, plan) + join + _STOPPED + body


_STOPPED = """\
if has '"lockHolder": {'; then refuse "a server or another process uses its directories"; fi
"""


def _guards(host: Host, plan: RecoveryPlan) -> str:
    config = host.copy.config
    assert config
    node_id = host.node_id
    place = f'"path": {_json(config.metadata_log_dir)}, "isMetadata": true'
    formatted = f'{place}, "exists": true, "isFormatted": true'
    identity = f'{formatted}, "clusterId": {_json(plan.cluster_id)}, "nodeId": {node_id}'
    known_id = to_text(host.directory_id) if host.directory_id else ""
    action = 'action=prepare\nif [ "${1:-}" = join ]; then action=join; shift; fi\n'
    on_host = '[ "$(uname -n)" = "$host" ] || refuse "this host is $(uname -n), not $host"\n'
    return f"""\
#!/bin/sh
# Node {node_id}: {host.role.value}. Run it there, as the page says: sh {host.script_name}
set -eu
refuse() {{ printf '%s\\n' "{host.script_name}: refused, nothing was changed: $1" >&2; exit 3; }}
{action if host.role is Role.JOINS else ""}\
here=$(cd "$(dirname "$0")" && pwd)
config=${{1:-}}
[ -n "$config" ] || config={_q(host.copy.config_path or "")}
directory={_q(config.metadata_log_dir)}
host={_q(host.copy.host or "")}
servers={_q(addresses(plan.new_voters))}
storage=${{KAFKA_STORAGE:-kafka-storage}}
{on_host if host.copy.host else ""}\
[ -r "$config" ] || refuse "cannot read '$config': give the path of its server.properties"
state=$("$storage" info -c "$config" --format json) || [ -n "$state" ] ||
  refuse "$storage is not that of kraftops: set KAFKA_STORAGE"
has() {{ case $state in *"$1"*) return 0 ;; *) return 1 ;; esac; }}
has '"formatVersion": 2, "nodeId": {node_id},' || refuse "$config is not that of node {node_id}"
has {_q(place)} || refuse "$directory is not the metadata directory in $config"
if has {_q(formatted)}; then
  has {_q(identity)} || refuse "$directory is of another node or cluster"
fi
if grep -q '^ *controller.quorum.voters *[=:]' "$config"; then
  refuse "it has controller.quorum.voters: set controller.quorum.bootstrap.servers=$servers"
fi
old_disk={_q(f'{identity}, "directoryId": {_json(known_id)}')}
"""


def _voter(host: Host, plan: RecoveryPlan) -> str:
    names = _q(",".join(map(str, plan.new_voters)))
    choice = ' --choose "$log"' if plan.is_named else ""
    return f"""\
has "$old_disk" || refuse "$directory is not the disk that was copied"
# It names the backup of the newest recovery that is in the log, and fails once a server has run.
undo() {{ "$storage" recover -c "$config" --undo --dry-run 2>/dev/null || :; }}
{_done(host, _FORGET_IF_UNDONE)}\
log=$here/{LOG_ARCHIVE}
recover() {{ "$storage" recover -c "$config" --voters {names} --from "$log"{choice} --yes "$@"; }}
plan=$(recover --dry-run --format json) ||
  refuse "recover refuses, see above. Copy this node again if it has run since, and plan anew"
has_not_changed=
case $plan in
{_unchanged(host)} has_not_changed=yes ;;
  *'"isOwn": true'*'"ahead": 0,'*) has_not_changed=yes ;; # also after a run that was killed
esac
case $plan in *'"offset": null, "epoch"'*) ;; *) has_not_changed= ;; esac
[ "$has_not_changed" ] ||
  refuse "its log has changed since it was copied: copy it again, and make a new plan"
written=$(recover)
printf '%s\\n' "$written" | sed '/^Next:/,$d'  # the page has the next steps
undo >"$done"
"""


def _unchanged(host: Host) -> str:
    """Return the pattern of a plan in which the node's log is as it was when it was copied."""
    epoch, end = (host.log.epoch, host.log.end) if host.log else (0, 0)
    return f"""  *'"isOwn": true, "isChosen": false, "epoch": {epoch}, "endOffset": {end},'*)"""


def _joins(host: Host, plan: RecoveryPlan) -> str:
    form = format_command(host.copy.config, plan, is_broker=host.is_broker)
    return f"""\
if has "$old_disk"; then
{_saved(host, VOID_NAMES)}\
elif [ -e "$directory/{META_FILE}" ]; then
  echo "node {host.node_id} was formatted before: nothing to do"
  exit 0
fi
[ ! -e "$directory/{METADATA_PARTITION}" ] || refuse "$directory has a log without {META_FILE}"
"$storage" {shlex.join(form)} -c "$config"
"""


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
    if not host.is_ahead:
        return f'echo "node {host.node_id}: nothing to change"\n{_order(host)}'
    return f"""\
{_done(host)}\
has "$old_disk" || refuse "$directory is not the disk that was copied"
{_saved(host, (METADATA_PARTITION,))}\
: >"$done"
{_order(host)}"""


def _order(host: Host) -> str:
    if not host.starts_after:
        return ""
    others = named("broker", host.starts_after)
    return f'echo "start it once {others} runs: newer copies of partitions are only there"\n'


def _join(host: Host, cluster_id: str) -> str:
    return f"""\
if [ $action = join ]; then
  exec "${{KAFKA_CLUSTER:-kafka-cluster}}" controllers add --id {host.node_id} -C "$servers" \\
    --yes --expect-cluster-id={_q(cluster_id)} ${{COMMAND_CONFIG:+-c "$COMMAND_CONFIG"}}
fi
"""


_FORGET_IF_UNDONE = """\
would_undo=$(undo)
if [ -e "$done" ] && [ -n "$would_undo" ] && [ "$would_undo" != "$(cat "$done")" ]; then
  rm "$done"
fi
"""


def _done(host: Host, forget: str = "") -> str:
    """Return the lines that end a script which has run: later the server's log is another one."""
    return f"""\
done=$here/{host.script_name}.done
{forget}\
if [ -e "$done" ]; then echo "node {host.node_id} is done: $done"; exit 0; fi
"""


def _saved(host: Host, names: tuple[str, ...]) -> str:
    """Return the lines that pack files beside the script, and remove them, the last one last."""
    paths = " ".join(f'"$directory/{name}"' for name in names)
    return f"""\
  saved=$here/node-{host.node_id}-before.tar.gz
  if [ ! -e "$saved" ]; then
    (cd "$directory" && find {" ".join(names)} -maxdepth 1 -type f 2>/dev/null) >"$saved.names" || :
    tar -czf "$saved.part" -C "$directory" -T "$saved.names"
    mv "$saved.part" "$saved"
    rm "$saved.names"
  fi
  for path in {paths}; do rm -rf "$path"; done
"""
