"""Exceptions of Kafka's loader: their classes and what they mean for a server."""

_ERRORS = "org.apache.kafka.common.errors."
CORRUPT_RECORD = f"{_ERRORS}CorruptRecordException"
INCONSISTENT_TOPIC_ID = f"{_ERRORS}InconsistentTopicIdException"
INVALID_OFFSET = f"{_ERRORS}InvalidOffsetException"
INVALID_TXN_STATE = f"{_ERRORS}InvalidTxnStateException"
STORAGE = f"{_ERRORS}KafkaStorageException"
INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
KAFKA = "org.apache.kafka.common.KafkaException"
IO = "java.io.IOException"
NO_SUCH_FILE = "java.nio.file.NoSuchFileException"  # an IOException, too
BUFFER_OVERFLOW = "java.nio.BufferOverflowException"
BUFFER_UNDERFLOW = "java.nio.BufferUnderflowException"
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
INDEX_OUT_OF_BOUNDS = "java.lang.IndexOutOfBoundsException"
ILLEGAL_STATE = "java.lang.IllegalStateException"
NO_SUCH_ELEMENT = "java.util.NoSuchElementException"
NULL_POINTER = "java.lang.NullPointerException"
OUT_OF_RANGE = "java.lang.StringIndexOutOfBoundsException"
NUMBER_FORMAT = "java.lang.NumberFormatException"
OUT_OF_MEMORY = "java.lang.OutOfMemoryError"
SNAPPY = "org.xerial.snappy.SnappyError"

OF_ONE_DIRECTORY = frozenset({IO, NO_SUCH_FILE, STORAGE})
"""Exceptions that take one log directory offline (`LogManager.loadLogs`).

It catches an IOException, and a KafkaStorageException with one as its cause: all that the loader
throws have one. Any other exception ends the broker.
"""


class LoadError(Exception):
    """An exception of Kafka's loader: its class, Kafka's message without paths, and the place."""

    def __init__(
        self, java_class: str, message: str, file: str | None = None, position: int | None = None
    ) -> None:
        super().__init__(f"{java_class}: {message}")
        self.java_class, self.message = java_class, message
        self.file, self.position = file, position
