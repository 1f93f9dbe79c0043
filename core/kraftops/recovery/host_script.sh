# The parts of the script of a host, each after a line ---- NAME. Words as @this@ are replaced; on a
# line of its own, one stands for further lines, or for none.
---- guards
#!/bin/sh
# Node @node_id@: @role@. Run it there, as the page says: sh @script@
set -eu
refuse() { printf '%s\n' "@script@: refused, nothing was changed: $1" >&2; exit 3; }
@action@
here=$(cd "$(dirname "$0")" && pwd)
config=${1:-}
[ -n "$config" ] || config=@config@
directory=@directory@
host=@host@
servers=@servers@
storage=${KAFKA_STORAGE:-kafka-storage}
@on_host@
[ -r "$config" ] || refuse "cannot read '$config': give the path of its server.properties"
state=$("$storage" info -c "$config" --format json) || [ -n "$state" ] ||
  refuse "$storage is not that of kraftops: set KAFKA_STORAGE"
has() { case $state in *"$1"*) return 0 ;; *) return 1 ;; esac; }
has '"formatVersion": 2, "nodeId": @node_id@,' || refuse "$config is not that of node @node_id@"
has @place@ || refuse "$directory is not the metadata directory in $config"
if has @formatted@; then
  has @identity@ || refuse "$directory is of another node or cluster"
fi
if grep -q '^ *controller.quorum.voters *[=:]' "$config"; then
  refuse "it has controller.quorum.voters: set controller.quorum.bootstrap.servers=$servers"
fi
old_disk=@old_disk@
@join@
if has '"lockHolder": {'; then refuse "a server or another process uses its directories"; fi
---- action
action=prepare
if [ "${1:-}" = join ]; then action=join; shift; fi
---- on_host
[ "$(uname -n)" = "$host" ] || refuse "this host is $(uname -n), not $host"
---- join
if [ $action = join ]; then
  exec "${KAFKA_CLUSTER:-kafka-cluster}" controllers add --id @node_id@ -C "$servers" \
    --yes --expect-cluster-id=@cluster_id@ ${COMMAND_CONFIG:+-c "$COMMAND_CONFIG"}
fi
---- voter
has "$old_disk" || refuse "$directory is not the disk that was copied"
# It names the backup of the newest recovery that is in the log, and fails once a server has run.
undo() { "$storage" recover -c "$config" --undo --dry-run 2>/dev/null || :; }
done=$here/@script@.done
would_undo=$(undo)
if [ -e "$done" ] && [ -n "$would_undo" ] && [ "$would_undo" != "$(cat "$done")" ]; then
  rm "$done"
fi
if [ -e "$done" ]; then echo "node @node_id@ is done: $done"; exit 0; fi
log=$here/@archive@
recover() { "$storage" recover -c "$config" --voters @voters@ --from "$log"@choice@ --yes "$@"; }
plan=$(recover --dry-run --format json) ||
  refuse "recover refuses, see above. Copy this node again if it has run since, and plan anew"
has_not_changed=
case $plan in
  *'"isOwn": true, "isChosen": false, "epoch": @epoch@, "endOffset": @end@,'*) has_not_changed=yes ;;
  *'"isOwn": true'*'"ahead": 0,'*) has_not_changed=yes ;; # also after a run that was killed
esac
case $plan in *'"offset": null, "epoch"'*) ;; *) has_not_changed= ;; esac
[ "$has_not_changed" ] ||
  refuse "its log has changed since it was copied: copy it again, and make a new plan"
written=$(recover)
printf '%s\n' "$written" | sed '/^Next:/,$d'  # the page has the next steps
undo >"$done"
---- joins
if has "$old_disk"; then
@saved@
elif [ -e "$directory/@meta_file@" ]; then
  echo "node @node_id@ was formatted before: nothing to do"
  exit 0
fi
[ ! -e "$directory/@log@" ] || refuse "$directory has a log without @meta_file@"
"$storage" @format@ -c "$config"
---- unchanged_broker
echo "node @node_id@: nothing to change"
@order@
---- broker
done=$here/@script@.done
if [ -e "$done" ]; then echo "node @node_id@ is done: $done"; exit 0; fi
has "$old_disk" || refuse "$directory is not the disk that was copied"
@saved@
: >"$done"
@order@
---- order
echo "start it once @others@ runs: newer copies of partitions are only there"
---- saved
  saved=$here/node-@node_id@-before.tar.gz
  if [ ! -e "$saved" ]; then
    (cd "$directory" && find @names@ -maxdepth 1 -type f 2>/dev/null) >"$saved.names" || :
    tar -czf "$saved.part" -C "$directory" -T "$saved.names"
    mv "$saved.part" "$saved"
    rm "$saved.names"
  fi
  for path in @paths@; do rm -rf "$path"; done
