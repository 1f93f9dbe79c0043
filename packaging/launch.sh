#!/bin/sh
# Run the command that this file is called as, with the interpreter of the tree that it is in.
self=$0
if [ -L "$self" ]; then self=$(readlink -f "$self"); fi
tree=${self%/*}/..
case ${0##*/} in
  kafka-cluster | kafka-cluster.sh) main=kafka_cluster ;;
  kafka-dump-log | kafka-dump-log.sh) main=kafka_dump_log ;;
  kafka-metadata-shell | kafka-metadata-shell.sh) main=kafka_metadata_shell ;;
  kafka-storage | kafka-storage.sh) main=kafka_storage ;;
  *) main=kraftops ;;
esac
# OpenSSL looks for authorities where Debian and Alpine have them.
if [ -z "${SSL_CERT_FILE-}${SSL_CERT_DIR-}" ] && [ -r /etc/pki/tls/certs/ca-bundle.crt ]; then
  export SSL_CERT_FILE=/etc/pki/tls/certs/ca-bundle.crt
fi
# Without it, the shell would say of an interpreter that is there: "not found".
loader=/lib64/ld-linux-x86-64.so.2
if [ ! -e "$loader" ]; then
  echo "${0##*/}: $loader is missing: this tree needs glibc, which Alpine does not have" >&2
  exit 1
fi
exec "$tree/libexec/python3" -I -c "from kraftops_cli.main import $main; $main()" "$@"
