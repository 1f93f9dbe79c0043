#!/bin/sh
# The calls of kafka-storage in the roles of cp-ansible: one controller, then one broker.
# CONTROLLER, BROKER: their configurations; CONTROLLER_DIR.
set -e

formatted=0
kafka-storage info -c "$CONTROLLER" || formatted=$?
fresh=$(KAFKA_OPTS="-Xlog:all=error -XX:+IgnoreUnrecognizedVMOptions" kafka-storage random-uuid)
if [ "$formatted" = 1 ]; then
    kafka-storage format \
        -t="$fresh" -c "$CONTROLLER" \
        --add-scram 'SCRAM-SHA-512=[name=admin,password=admin-secret]' \
        --add-scram 'SCRAM-SHA-256=[name=admin,password=admin-secret]' \
        --ignore-formatted
fi

# The text behind "cluster.id=", up to the end of the line.
cluster=$(sed -n 's/.*cluster\.id=//p' "$CONTROLLER_DIR/meta.properties")
kafka-storage format -t="$cluster" -c "$BROKER" --ignore-formatted
