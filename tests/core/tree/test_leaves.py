"""The values of leaves, and their last changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Leaf
from kraftops.tree.view import Form
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import kraft_version_batch, snapshot_bytes, voters_batch
from tests.helpers.logs.random_logs import (
    FIRST_TIME,
    MetadataRecord,
    leader_change,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.leaves import leaves_of
from tests.helpers.tree.reading import (
    TOPIC,
    T,
    config,
    data,
    image_in,
    image_of,
    names,
    node_at,
    partition,
)

REAL = SHELL / "in" / "n431"


class TestBrokers:
    @pytest.mark.parametrize(
        ("fenced", "shutdown", "state"),
        [
            (True, False, "registered-fenced"),
            (True, True, "registered-fenced"),
            (False, True, "controlled-shutdown"),
            (False, False, "active"),
        ],
    )
    def test_state_in_one_word(self, fenced: bool, shutdown: bool, state: str) -> None:
        record = new_record(
            "RegisterBrokerRecord", brokerId=1, fenced=fenced, inControlledShutdown=shutdown
        )

        assert data(tree_of(image_of(record)), "/image/cluster/brokers/1")["state"] == state

    def test_endpoints_and_features_are_sorted_and_the_last_counts(self) -> None:
        def endpoint(name: str, port: int) -> dict[str, Any]:
            return {"name": name, "host": "h", "port": port, "securityProtocol": 0}

        def feature(name: str, most: int) -> dict[str, Any]:
            return {"name": name, "minSupportedVersion": 0, "maxSupportedVersion": most}

        record = new_record(
            "RegisterBrokerRecord",
            brokerId=1,
            endPoints=[endpoint("b", 1), endpoint("a", 2), endpoint("b", 3)],
            features=[feature("y", 1), feature("x", 2), feature("y", 3)],
            logDirs=[uuid(2), uuid(1 << 127), uuid(1)],
        )
        shown = data(tree_of(image_of(record)), "/image/cluster/brokers/1")

        assert [(one["name"], one["port"]) for one in shown["endPoints"]] == [("a", 2), ("b", 3)]
        assert [one["maxSupportedVersion"] for one in shown["features"]] == [2, 3]
        # Java compares the halves of ids as signed numbers.
        assert shown["logDirs"] == [to_text(uuid(one)) for one in (1 << 127, 1, 2)]
        assert shown["endPoints"][0]["securityProtocol"] == "PLAINTEXT"


class TestConfigurations:
    IMAGE = image_of(
        config(2, "orders", "retention.ms", "1"),
        config(2, "orders", "message.format.version", "2.8"),
        config(2, "old", "message.format.version", "2.8"),
        config(4, "", "ssl.keystore.password", "secret"),
        config(8, "1", "kafka", "INFO"),
        config(77, "x", "y", "z"),
    )

    def test_kafkas_form_hides_what_kafka_drops(self) -> None:
        root = tree_of(self.IMAGE, form=Form.KAFKA)

        assert names(root, "/image/configs") == ["BROKER", "TOPIC:orders"]
        assert names(root, "/image/configs/TOPIC:orders") == ["retention.ms"]
        assert node_at(root, "/image/configs/TOPIC:old") is None

    def test_ours_has_all(self) -> None:
        root = tree_of(self.IMAGE)

        assert names(root, "/image/configs") == [
            *("BROKER", "BROKER_LOGGER:1", "TOPIC:old", "TOPIC:orders", "UNKNOWN(77):x"),
        ]
        assert data(root, "/image/configs/UNKNOWN(77):x/y") == "<redacted>"
        assert data(root, "/image/configs/BROKER:/ssl.keystore.password") == "<redacted>"
        assert data(root, "/image/configs/TOPIC:orders/retention.ms") == "1"


class TestSecrets:
    SCRAM = new_record(
        "UserScramCredentialRecord",
        name="u",
        mechanism=1,
        salt=b"\1",
        storedKey=b"\2",
        serverKey=b"\3",
        iterations=4096,
    )
    PASSWORD = config(4, "1", "listener.name.x.ssl.key.password", "secret")

    def test_secrets_are_redacted(self) -> None:
        root = tree_of(image_of(self.SCRAM, self.PASSWORD))

        assert data(root, "/image/scram/SCRAM-SHA-256/u") == {
            "salt": "<redacted>",
            "storedKey": "<redacted>",
            "serverKey": "<redacted>",
            "iterations": 4096,
        }
        assert all(
            word not in leaf.json for _, leaf in leaves_of(root) for word in ("secret", "AQ==")
        )

    def test_secrets_are_shown_on_request(self) -> None:
        root = tree_of(image_of(self.SCRAM, self.PASSWORD), show_secrets=True)

        assert data(root, "/image/scram/SCRAM-SHA-256/u")["salt"] == "AQ=="
        path = "/image/configs/BROKER:1/listener.name.x.ssl.key.password"
        assert data(root, path) == "secret"

    def test_kafkas_text_hides_nothing(self) -> None:
        root = tree_of(image_of(self.SCRAM, self.PASSWORD), form=Form.KAFKA)
        found = node_at(root, "/image/scram/SCRAM-SHA-256/u")

        assert isinstance(found, Leaf)
        assert (
            found.kafka_text
            == "ScramCredentialData(salt=01, storedKey=02, serverKey=03, iterations=4096)"
        )

    def test_unknown_mechanisms_are_ours_alone(self) -> None:
        image = image_of(new_record("UserScramCredentialRecord", name="u", mechanism=9))

        assert names(tree_of(image, form=Form.KAFKA), "/image/scram") == [
            *("SCRAM-SHA-256", "SCRAM-SHA-512"),
        ]
        assert names(tree_of(image), "/image/scram")[2:] == ["UNKNOWN(9)"]


class TestQuotas:
    IMAGE = image_of(
        *(
            new_record("ClientQuotaRecord", entity=entity, key="x", value=value)
            for value, entity in enumerate(
                [
                    [{"entityType": "user", "entityName": "u"}],
                    [
                        {"entityType": "user", "entityName": "u"},
                        {"entityType": "client-id", "entityName": None},
                    ],
                    [{"entityType": "user", "entityName": None}],
                    [{"entityType": "ip", "entityName": None}],
                    [],
                    [{"entityType": "planet", "entityName": "p"}],
                ]
            )
        )
    )

    def test_all_entities_have_names_of_ours(self) -> None:
        root = tree_of(self.IMAGE)

        found = {
            name: data(root, f"/image/clientQuotas/{name}/x")
            for name in names(root, "/image/clientQuotas")
        }
        assert found == {
            "user(u)": 0.0,
            "clientId<default>_user(u)": 1.0,
            "user<default>": 2.0,
            "ip<default>": 3.0,
            "<empty>": 4.0,
            "planet(p)": 5.0,
        }

    def test_kafkas_names_leave_defaults_out(self) -> None:
        root = tree_of(self.IMAGE, form=Form.KAFKA)

        assert names(root, "/image/clientQuotas") == ["", "", "", "planet(p)", "user(u)", "user(u)"]
        assert data(root, "/image/clientQuotas/user(u)/x") == 0.0


class TestFeaturesAndProducers:
    def test_levels(self) -> None:
        def level(name: str, value: int) -> MetadataRecord:
            return new_record("FeatureLevelRecord", name=name, featureLevel=value)

        image = image_of(level("metadata.version", 30), level("x", 2))
        for form in (Form.KAFKA, Form.OURS):
            root = tree_of(image, form=form)
            assert names(root, "/image/features") == ["finalized_x", "metadataVersion"]
            assert data(root, "/image/features/metadataVersion") == "4.3-IV0"
            assert data(root, "/image/features/finalized_x") == 2
        assert node_at(tree_of(image), "/image/features/finalized_nope") is None
        assert data(tree_of(image, form=Form.KAFKA), "/image/features/finalized_nope") == 0

    def test_every_level_has_a_name(self) -> None:
        shown = {
            level: data(
                tree_of(
                    image_of(
                        new_record(
                            "FeatureLevelRecord", name="metadata.version", featureLevel=level
                        )
                    )
                ),
                "/image/features/metadataVersion",
            )
            for level in range(7, 32)
        }

        assert (shown[7], shown[21], shown[31]) == ("3.3-IV3", "3.9-IV0", "4.4-IV0")
        assert len(set(shown.values())) == 25

    def test_empty_image_has_default_values(self) -> None:
        root = tree_of(MetadataImage(), form=Form.KAFKA)
        texts = {path: leaf.kafka_text for path, leaf in leaves_of(root)}

        assert texts["/image/features/metadataVersion"] == "Optional.empty"
        assert texts["/image/producerIds/nextProducerId"] == "-1"


class TestQuorum:
    def test_control_records_are_shown(self) -> None:
        raw = b"".join(
            [
                kraft_version_batch(0, 1),
                voters_batch(1, (1, uuid(9))),
                leader_change(2, 1, 5),
            ]
        )
        root = tree_of(image_in(raw))

        assert data(root, "/image/quorum/leader") == 1
        assert data(root, "/image/quorum/epoch") == 5
        assert data(root, "/image/quorum/kraftVersion") == 1
        (voter,) = data(root, "/image/quorum/voters")
        assert voter["voterId"] == 1

    def test_leader_knows_the_voters_of_a_static_quorum(self) -> None:
        root = tree_of(image_in(leader_change(0, 1)))

        assert [one["voterId"] for one in data(root, "/image/quorum/voters")] == [1, 2]
        assert data(root, "/image/quorum/kraftVersion") is None

    def test_all_data_are_json(self) -> None:
        for node in ("n332", "n391", "n431"):
            for path, leaf in leaves_of(tree_of(load(SHELL / "in" / node), show_secrets=True)):
                assert json.loads(leaf.json) == leaf.data, path


class TestLastChanges:
    def test_leaves_have_their_last_change(self) -> None:
        change = new_record(
            "PartitionChangeRecord", time=FIRST_TIME + 5, partitionId=0, topicId=T, leader=2
        )
        image = image_in(
            log_bytes(log_batches([TOPIC, partition(0)], [new_record("NoOpRecord"), change]))
        )
        root = tree_of(image)

        found = node_at(root, "/image/topics/byName/orders/0")
        assert isinstance(found, Leaf)
        assert found.last_change is not None
        assert tuple(found.last_change.change) == (3, FIRST_TIME + 5, 1, False)
        topic = node_at(root, "/image/topics/byName/orders/name")
        assert isinstance(topic, Leaf)
        assert topic.last_change
        assert topic.last_change.change.offset == 0
        version = node_at(root, "/local/version")
        assert isinstance(version, Leaf)
        assert version.last_change is None

    def test_change_in_a_snapshot_is_bounded_by_its_end(self, tmp_path: Path) -> None:
        path = tmp_path / "00000000000000000042-0000000001.checkpoint"
        path.write_bytes(snapshot_bytes(*map(bytes, log_batches([TOPIC])), end=1))

        found = node_at(tree_of(load(path)), "/image/topics/byName/orders/name")
        assert isinstance(found, Leaf)
        assert found.last_change
        change = found.last_change.change
        assert (change.offset, change.is_upper_bound) == (41, True)

    def test_findings_are_listed(self) -> None:
        image = image_of(TOPIC, new_record("RemoveTopicRecord", topicId=uuid(7)))
        root = tree_of(image)

        assert names(root, "/local/findings") == ["0"]
        assert data(root, "/local/findings/0") == {
            "code": "record-left-out",
            "severity": "risk",
            "text": "there is no topic with this id",
            "file": "memory",
            "position": 0,
            "offset": 1,
        }
        assert node_at(root, "/local/findings/1") is None
        assert node_at(root, "/local/findings/-1") is None

    def test_millions_are_not_listed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A log of 54 KB with 4.5 million took 412 MiB and a minute to walk."""
        monkeypatch.setattr("kraftops.tree.layout.MOST_FINDINGS", 2)
        root = tree_of(image_of(*[new_record("RemoveTopicRecord", topicId=uuid(7))] * 3))

        assert names(root, "/local/findings") == ["0", "1"]
        assert node_at(root, "/local/findings/2") is not None
