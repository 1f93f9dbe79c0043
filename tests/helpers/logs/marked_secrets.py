"""A metadata log of marked secrets, and a search for them in what comes out."""

from base64 import b64encode
from pathlib import Path

from kraftops.log.batch import Record
from tests.helpers.logs.messages import encoded, table
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, MetadataRecord, new_record, uuid
from tests.helpers.logs.written import batch_bytes

MARK = "canary"
"""The begin of each secret; a `-` follows."""
SECRET_KEYS = (
    (2, "orders", "my.topic.token"),
    (4, "", "ssl.keystore.password"),
    (4, "1", "my.custom.api.token"),
    (4, "1", "listener.name.a.scram-sha-256.sasl.jaas.config"),
    (4, "1", "listener.name.a.ssl.truststore.certificates"),
    (4, "1", "log.dirs\n"),
    (8, "1", "kafka.server"),
    (16, "clients", "retention.ms"),
    (32, "group", "log.dirs"),
    (99, "x", "log.dirs"),
)
PUBLIC = "/public/place"


def secret(number: int) -> str:
    """Return a marked secret."""
    return f"{MARK}-{number:02}-7f3a"


def credential(user: str, number: int) -> MetadataRecord:
    """Return a credential of three secrets."""
    texts = [f"{secret(number)}-{part}".encode() for part in range(3)]
    fields = dict(zip(("salt", "storedKey", "serverKey"), texts, strict=True))
    return new_record("UserScramCredentialRecord", name=user, mechanism=1, iterations=9, **fields)


def configs(shift: int) -> list[MetadataRecord]:
    """Return a configuration for each key, and one that is no secret."""
    public = new_record(
        "ConfigRecord", resourceType=4, resourceName="1", name="log.dirs", value=PUBLIC
    )
    return [public] + [
        new_record(
            "ConfigRecord",
            resourceType=kind,
            resourceName=name,
            name=key,
            value=secret(number + shift),
        )
        for number, (kind, name, key) in enumerate(SECRET_KEYS)
    ]


def damaged() -> bytes:
    """Return a batch of records with secrets that cannot be read."""
    values = []
    for name, version in (("ConfigRecord", 0), ("ConfigRecord", 9)):
        message = table("metadata")[name]
        data = {"resourceType": 4, "resourceName": "", "name": "a.b", "value": secret(90)}
        body = encoded(message, 0, data)
        values.append(bytes([1, message.key or 0, version]) + body + b"more")
    return batch_bytes([Record(100 + at, 9, None, one) for at, one in enumerate(values)])


def write_marked_log(folder: Path) -> None:
    """Write a metadata log of secrets, which change."""
    first = [
        new_record("FeatureLevelRecord", name="metadata.version", featureLevel=20),
        new_record("TopicRecord", name="orders", topicId=uuid(1)),
        *configs(0),
        credential("alice", 30),
    ]
    later = [*configs(40), credential("alice", 70)]
    batches = [bytes(LogBatch(0, first)), bytes(LogBatch(50, later)), damaged()]
    write_log(folder, {0: batches})


def leaks(data: bytes) -> list[bytes]:
    """Return the secrets in data, as they are, in hexadecimal digits and in any base64."""
    mark = f"{MARK}-".encode()
    shapes = [mark, mark.hex().encode(), mark.hex().upper().encode()]
    for shift, first in enumerate((0, 2, 3)):  # signs that bytes before it have a part in
        text = b64encode(bytes(shift) + mark).rstrip(b"=")
        whole = (shift + len(mark)) % 3 == 0
        shapes.append(text[first:] if whole else text[first:-1])
    return [shape for shape in shapes if shape in data]
