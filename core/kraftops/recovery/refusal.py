"""The refusal of a recovery, which has changed nothing, and the command that its hints name."""

from kraftops.errors import StorageError

PACK = (
    r"find /var/lib/kafka -type f \( -path '/var/lib/kafka/__cluster_metadata-0/*' -o "
    r"! -name '*.log' ! -name '*index' \) | "
    "tar -czf node-N.tar.gz /etc/hostname /etc/kafka/server.properties -T -"
)
"""The command that packs what is read of a node, without records of topics."""
PACK_BROKER = (
    "of a broker that was killed (no .kafka_cleanshutdown) pack all of its disks; of others on each"
)
"""What goes before the command where only the segments may tell where logs end."""


class RecoveryRefused(StorageError):
    """The recovery would do harm, or a person must decide; *code* is one of `errors.CODES`."""

    def __init__(self, code: str, message: str, hint: str | None = None, **known: object) -> None:
        super().__init__(message, hint, code=code, **{"changed": False, **known})

    @property
    def exit_code(self) -> int:
        """The exit code; what is left of a damaged log a person can choose."""
        return 3 if self.code == "damaged" else super().exit_code
