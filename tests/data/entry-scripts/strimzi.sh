#!/bin/sh
# The calls of kafka-storage in a container of Strimzi, at every start of it.
# CONFIG, CLUSTER_ID, METADATA_VERSION, NODE_ID; INITIAL_CONTROLLERS is empty for a static quorum.
set -e

format() {
    # With "=", since a cluster id may begin with a dash (KAFKA-15754).
    kafka-storage.sh format -t="$CLUSTER_ID" -r="$METADATA_VERSION" -c="$CONFIG" -g "$@"
}

if [ -z "$INITIAL_CONTROLLERS" ]; then
    format
else
    case $(grep '^process.roles=' "$CONFIG"),$INITIAL_CONTROLLERS in
        *controller*,"$NODE_ID"@* | *controller*,*,"$NODE_ID"@*) format -I="$INITIAL_CONTROLLERS" ;;
        *) format -N ;; # a broker, or a controller that comes later
    esac
fi

metadata=$(sed -n 's/^metadata.log.dir=//p' "$CONFIG")
rm -f "$metadata/__cluster_metadata-0/quorum-state"
