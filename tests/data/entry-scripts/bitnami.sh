#!/bin/sh
# The calls of kafka-storage in a container of Bitnami, at every start of it.
# CONFIG, DATA_DIR; CLUSTER_ID, USER_NAME and INITIAL_CONTROLLERS may be empty.
set -e

if [ -f "$DATA_DIR/meta.properties" ]; then
    CLUSTER_ID=$(grep '^cluster.id=' "$DATA_DIR/meta.properties" | sed -E 's/^cluster\.id=(\S+)$/\1/')
fi
if [ -z "$CLUSTER_ID" ]; then
    CLUSTER_ID=$(kafka-storage.sh random-uuid)
fi

set -- --config "$CONFIG" --ignore-formatted "--cluster-id=$CLUSTER_ID"
if [ -n "$USER_NAME" ]; then
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
        set -- "$@" --add-scram "$mechanism=[name=$USER_NAME,password=$PASSWORD]"
    done
fi
if [ -n "$INITIAL_CONTROLLERS" ]; then
    set -- "$@" --feature=kraft.version=1 --initial-controllers "$INITIAL_CONTROLLERS"
fi
kafka-storage.sh format "$@"
