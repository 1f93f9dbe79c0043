"""Values of keys are parsed, or refused with Kafka's message."""

import math

import pytest

from tests.helpers.nodes.server_configs import load_with, refusal

pytestmark = pytest.mark.usefixtures("working_directory")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("num.partitions", " 7 ", 7),
        ("num.partitions", "+07", 7),
        ("num.partitions", "٣", 3),
        ("num.partitions", "2147483647", 2147483647),
        ("log.retention.bytes", "-9223372036854775808", -(1 << 63)),
        ("offsets.topic.replication.factor", "32767", 32767),
        ("log.cleaner.io.max.bytes.per.second", "1e400", math.inf),
        ("log.cleaner.io.max.bytes.per.second", ".5f", 0.5),
        ("log.cleaner.io.max.bytes.per.second", "0x1.8p1", 3.0),
        ("log.cleaner.io.max.bytes.per.second", "0x1p9999", math.inf),
        ("log.cleaner.min.cleanable.ratio", "-0", 0.0),
        ("auto.create.topics.enable", " TRUE ", True),
        ("auto.create.topics.enable", "False", False),
        ("metric.reporters", "", ()),
        ("metric.reporters", "a , b\t,a", ("a", "b")),
        ("broker.rack", "  r 1 ", "r 1"),
        ("group.consumer.migration.policy", "UpGrade", "UpGrade"),
        ("ssl.key.password", " s ", "s"),
        ("principal.builder.class", "com.example.Builder", "com.example.Builder"),
    ],
)
def test_values_have_types(key: str, text: str, value: object) -> None:
    assert load_with({key: text}).values[key] == value


def test_nan_is_within_all_limits() -> None:
    value = load_with({"log.cleaner.min.cleanable.ratio": "NaN"}).values

    assert str(value["log.cleaner.min.cleanable.ratio"]) == "nan"


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("num.partitions", "many", "Not a number of type INT"),
        ("num.partitions", "", "Not a number of type INT"),
        ("num.partitions", "1_000", "Not a number of type INT"),
        ("num.partitions", "2147483648", "Not a number of type INT"),
        ("num.partitions", "9" * 5000, "Not a number of type INT"),
        ("num.partitions", "0", "Value must be at least 1"),
        ("log.retention.bytes", "9223372036854775808", "Not a number of type LONG"),
        ("offsets.topic.replication.factor", "32768", "Not a number of type SHORT"),
        ("log.cleaner.min.cleanable.ratio", "nan", "Not a number of type DOUBLE"),
        ("log.cleaner.min.cleanable.ratio", "1.5", "Value must be no more than 1"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("auto.create.topics.enable", "yes", "Expected value to be either true or false"),
        ("log.message.timestamp.type", "createtime", "String must be one of: CreateTime, LogAppendTime"),
        ("log.cleanup.policy", "remove", "String must be one of: compact, delete"),
        (
            "sasl.oauthbearer.assertion.algorithm",
            "none",
            "String must be one of (case insensitive): ES256, RS256",
        ),
        ("remote.log.metadata.manager.listener.name", "", "String must be non-empty"),
        ("principal.builder.class", "Builder", "Class Builder could not be found."),
    ],
)  # fmt: skip
def test_value_that_is_not_allowed_is_refused(key: str, text: str, message: str) -> None:
    error = refusal({key: text})

    assert error.message == (
        f"server.properties: line 7: Invalid value {text} for configuration {key}: {message}"
    )
