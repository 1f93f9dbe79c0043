"""Secrets in records, which rows do not show."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import arrow_schema, scan_batches
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.secrets.rules import REDACTED, Redacted, is_secret_config
from kraftops.storage.config.keys import server_keys
from tests.helpers.engine.random_messages import frame_bytes
from tests.helpers.logs.corpus_rows import engine_json, parsed, rows
from tests.helpers.logs.messages import encoded, table
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import dump

SALT, STORED, SERVER = b"salt-of-it", b"stored-key", b"server-key"
SCRAM = {
    "name": "alice",
    "mechanism": 1,
    "salt": SALT,
    "storedKey": STORED,
    "serverKey": SERVER,
    "iterations": 4096,
}


def config(name: str, value: str | None) -> tuple[str, dict[str, Any]]:
    data = {"resourceType": 4, "resourceName": "1", "name": name, "value": value}
    return "ConfigRecord", data


def write(directory: Path, *records: tuple[str, dict[str, Any]]) -> Path:
    path = directory / "0.log"
    path.write_bytes(records_batch(0, *records))
    return path


def query(*, show_secrets: bool = False, form: str = "json", **asked: Any) -> Query:
    return Query(decoder="metadata", form=form, show_secrets=show_secrets, filter=Filter(**asked))


@pytest.mark.parametrize(
    "name",
    [
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.truststore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.certificates",
        "sasl.jaas.config",
        "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config",
        "listener.name.internal.ssl.keystore.password",
        "delegation.token.secret.key",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "delegation.token.master.key",
        "listener.name.a.plain.sasl.jaas.config",
    ],
)
def test_passwords_and_keys_are_secret(name: str) -> None:
    assert is_secret_config(4, name)


@pytest.mark.parametrize(
    ("resource_type", "name"),
    [
        (4, "my.custom.api.token"),
        (4, "listener.name.a.my.custom.api.token"),
        (4, "listener.name.log.dirs"),
        (4, "listener.name.a.b\n.sasl.login.class"),
        (4, "LOG.DIRS"),
        (4, ""),
        (2, "log.dirs"),
        (2, "listener.name.a.retention.ms"),
        (8, "kafka.server"),
        (16, "retention.ms"),
        (32, "token"),
        (99, "retention.ms"),
    ],
)
def test_configurations_that_no_release_knows_are_secret(resource_type: int, name: str) -> None:
    assert is_secret_config(resource_type, name)


@pytest.mark.parametrize(
    ("resource_type", "name"),
    [
        (2, "retention.ms"),
        (2, "message.format.version"),
        (4, "ssl.keystore.location"),
        (4, "ssl.truststore.type"),
        (4, "listener.name.a.ssl.truststore.type"),
        (4, "listener.name..log.dirs"),
        (4, "listener.name.a.scram-sha-256.sasl.login.class"),
        (4, "sasl.enabled.mechanisms"),
        (4, "password.encoder.iterations"),
        (4, "zookeeper.connect"),
        (4, "leader.replication.throttled.rate"),
        (16, "interval.ms"),
        (32, "share.isolation.level"),
    ],
)
def test_other_configurations_of_kafkas_releases_are_shown(resource_type: int, name: str) -> None:
    assert not is_secret_config(resource_type, name)


def test_keys_of_a_server_are_secret_by_their_type() -> None:
    for name, key in server_keys().items():
        assert is_secret_config(4, name) is (key.type == "password")


def test_a_redacted_secret_equals_its_like_and_never_leaves_the_process() -> None:
    one, other = Redacted("hunter2"), Redacted("hunter3")

    assert one != other
    assert not one == other  # noqa: SIM201 - both operators
    assert one == Redacted("hunter2")
    assert one == REDACTED == str(one)
    assert json.dumps([one, {"value": other}]) == '["<redacted>", {"value": "<redacted>"}]'
    assert b"hunter2" not in pickle.dumps(one)
    assert pickle.loads(pickle.dumps(one)) == REDACTED
    assert "hunter2" not in f"{one} {one!r} {one.upper()}"


def test_keys_of_scram_are_redacted(tmp_path: Path) -> None:
    path = write(tmp_path, ("UserScramCredentialRecord", SCRAM))

    (found,) = parsed(engine_json(path, query()))

    value = found["value"]
    assert (value["name"], value["iterations"]) == ("alice", 4096)
    assert {value["salt"], value["storedKey"], value["serverKey"]} == {REDACTED}


def test_keys_of_scram_in_the_kips_records_are_redacted(tmp_path: Path) -> None:
    message = table("kip_631")["UserScramCredentialRecord"]
    info = {"mechanism": 1, "salt": SALT, "saltedPassword": STORED, "iterations": 4096}
    data = {"userName": "alice", "credentialInfos": [info]}
    value = frame_bytes("kip-631", message.key or 0, 0) + encoded(message, 0, data)
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, value)]))

    (found,) = parsed(engine_json(path, replace(query(), dialect="kip-631")))

    (shown,) = found["value"]["credentialInfos"]
    assert shown == {**info, "salt": REDACTED, "saltedPassword": REDACTED}


def test_values_of_secret_configurations_are_redacted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        config("ssl.key.password", "hunter2"),
        config("log.retention.ms", "hunter2"),
        config("ssl.key.password", None),
        config("password.of.nobody", ""),
    )

    found = parsed(engine_json(path, query()))

    assert [row["value"]["value"] for row in found] == [REDACTED, "hunter2", None, REDACTED]
    assert found[0]["value"]["name"] == "ssl.key.password"


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
@pytest.mark.parametrize("show_secrets", [False, True])
def test_secrets_are_in_no_form_unless_asked_for(
    form: str, show_secrets: bool, tmp_path: Path
) -> None:
    from base64 import b64encode

    path = write(
        tmp_path, ("UserScramCredentialRecord", SCRAM), config("sasl.jaas.config", "hunter2")
    )
    asked = query(show_secrets=show_secrets, form=form)

    if form == "parquet":
        (batch,) = scan_batches(ByteRange(str(path)), asked, Report(), arrow_schema({"metadata"}))
        text = str(batch.to_pylist())
    else:
        text = engine_json(path, asked)

    for secret in (b64encode(SALT).decode(), b64encode(SERVER).decode(), "hunter2"):
        assert (secret in text) is show_secrets


def test_secrets_are_not_found_by_a_filter_either(tmp_path: Path) -> None:
    path = write(tmp_path, config("sasl.jaas.config", "hunter2"))
    where = "value.value = 'hunter2'"

    assert rows(path, query(where=where)) == []
    assert len(rows(path, query(where=where, show_secrets=True))) == 1


@pytest.mark.parametrize("name", ["UserScramCredentialRecord", "ConfigRecord"])
@pytest.mark.parametrize("version", [0, 1, 99])
def test_secrets_in_a_record_that_cannot_be_read_are_redacted(
    name: str, version: int, tmp_path: Path
) -> None:
    """As base64 of all of it, they would be there for all to read."""
    message = table("metadata")[name]
    data = SCRAM if name.startswith("User") else config("sasl.jaas.config", "hunter2")[1]
    value = bytes([1, message.key or 0, version]) + encoded(message, 0, data) + b"more"
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, value)]))

    (found,) = parsed(engine_json(path, query()))
    (shown,) = parsed(engine_json(path, query(show_secrets=True)))

    assert (found["value"], found["valueEncoding"]) == (REDACTED, None)
    assert found["error"]
    assert shown["valueEncoding"] == "base64"
    assert {found["type"], shown["type"]} == {
        "USER_SCRAM_CREDENTIAL_RECORD" if name.startswith("User") else "CONFIG_RECORD"
    }


def test_text_of_kafkas_tool_shows_all(tmp_path: Path) -> None:
    path = write(tmp_path, config("sasl.jaas.config", "hunter2"))

    text = dump(path, Query(decoder="metadata", deep_iteration=True)).text

    assert json.loads(text.split("payload: ")[1])["data"]["value"] == "hunter2"
