"""What each record does to an image: the rules of Kafka's `MetadataDelta` and its parts.

A rule returns None, or why its record cannot apply; the image is then unchanged. Where Kafka asks
the image from before the batch, `Unit` remembers what this batch has changed of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import ClassVar, TypeVar, cast

from kraftops.image import broker as brokers
from kraftops.image import partition as partitions
from kraftops.image import recordtypes as types
from kraftops.image.image import Broker, MetadataImage, Resource
from kraftops.image.topics import PARTITION_KEY, Topic
from kraftops.schema.read import Data

METADATA_VERSION = "metadata.version"
_KRAFT_VERSION = "kraft.version"
_METADATA_LEVELS = range(7, 32)  # 3.3-IV3 to 4.4-IV0, all that Kafka 4.3 knows
_TOPIC_RESOURCE = 2
_SECURITY_PROTOCOLS = range(4)
_UNKNOWN_TOPIC = "there is no topic with this id"
_UNKNOWN_PARTITION = "there is no such partition"

K = TypeVar("K")
Rule = Callable[["Rules", Data, int], str | None]


class Rules:
    """Applies records to an image."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self._had_topics: dict[bytes, str | None] = {}  # and their names
        self._had_names: dict[str, bool] = {}
        self._had_acls: dict[bytes, bool] = {}
        self._had_configs: dict[Resource, bool] = {}

    def begin_unit(self) -> None:
        """Have what follows be a batch, or transaction, of its own."""
        if self._had_topics or self._had_acls or self._had_configs:
            self._had_topics.clear()
            self._had_names.clear()
            self._had_acls.clear()
            self._had_configs.clear()

    def apply(self, number: int, data: Data, address: int) -> str | None:
        """Apply the record at *address*, of type *number*; return why it cannot, if it cannot."""
        rule = self._RULES.get(number)
        return "no rule for this type of record" if rule is None else rule(self, data, address)

    def change_key(self, key: bytes, address: int) -> str | None:
        """Have a change that fits any partition apply to the one of this key."""
        chain = self.image.changes.get(key)
        if chain is None:
            number, topic_id = PARTITION_KEY.unpack(key)
            topic = self.image.topics.get(topic_id)
            if topic is None:
                return _UNKNOWN_TOPIC
            if topic.place(number) is None:
                return _UNKNOWN_PARTITION
            chain = self.image.changes[key] = array("q")
        chain.append(address)
        return None

    def _nothing(self, _data: Data, _address: int) -> None:
        pass

    def _put_topic(self, data: Data, address: int) -> None:
        topic_id, name = cast("bytes", data["topicId"]), cast("str", data["name"])
        self._had_names.setdefault(name, name in self.image.topic_ids)
        self._drop_topic(topic_id)
        topic = Topic(topic_id, name, address)
        topic.is_deleting = bool(data.get("deleting"))
        self.image.topics[topic_id] = topic
        self.image.topic_ids[name] = topic_id

    def _drop_topic(self, topic_id: bytes) -> Topic | None:
        """Take a topic and its partitions out of the image."""
        image = self.image
        topic = image.topics.pop(topic_id, None)
        self._had_topics.setdefault(topic_id, None if topic is None else topic.name)
        if topic is None:
            return None
        self._had_names.setdefault(topic.name, True)
        for key in topic.keys() if image.changes else ():
            image.changes.pop(key, None)
        if image.topic_ids.get(topic.name) == topic_id:
            del image.topic_ids[topic.name]
        return topic

    def _remove_topic(self, data: Data, _address: int) -> str | None:
        topic_id = cast("bytes", data["topicId"])
        topic = self._drop_topic(topic_id)
        # One that this batch has removed already is removed again.
        name = self._had_topics[topic_id] if topic is None else topic.name
        if name is None:
            return _UNKNOWN_TOPIC
        resource = (_TOPIC_RESOURCE, name)
        # Configurations that came in this batch stay, as they do in Kafka.
        if self._had_configs.setdefault(resource, resource in self.image.configs):
            self.image.configs.pop(resource, None)
        return None

    def _put_partition(self, data: Data, address: int) -> str | None:
        topic = self.image.topics.get(cast("bytes", data["topicId"]))
        if topic is None:
            return _UNKNOWN_TOPIC
        state = partitions.registered(data)
        if isinstance(state, str):
            return state
        number = cast("int", data["partitionId"])
        topic.put(number, address)
        self.image.changes.pop(PARTITION_KEY.pack(number, topic.id), None)
        return None

    def _change_partition(self, data: Data, address: int) -> str | None:
        topic = self.image.topics.get(cast("bytes", data["topicId"]))
        if topic is None:
            return _UNKNOWN_TOPIC
        number = cast("int", data["partitionId"])
        state = self.image.partition(topic, number)
        if state is None:
            return _UNKNOWN_PARTITION
        after = partitions.changed(state, data)
        if isinstance(after, str):
            return after
        return self.change_key(PARTITION_KEY.pack(number, topic.id), address)

    def _clear_elr(self, data: Data, address: int) -> str | None:
        image, name = self.image, cast("str", data["topicName"])
        chosen: Iterable[Topic] = image.topics.values()
        if name:
            topic_id = image.topic_ids.get(name)
            if topic_id is None:
                # One that this batch has removed may well be named.
                is_known = self._had_names.get(name)
                return None if is_known else "there is no topic with this name"
            chosen = [image.topics[topic_id]]
        self._append_where_changed(chosen, address)
        return None

    def _append_where_changed(self, topics: Iterable[Topic], address: int) -> None:
        """Add the record at *address* to the changes of all partitions that it changes."""
        image = self.image
        for topic in topics:
            for number in topic.numbers():
                state = image.partition(topic, number)
                if state is not None and image.changed_partition(state, address) is not state:
                    self.change_key(PARTITION_KEY.pack(number, topic.id), address)

    def _register_broker(self, data: Data, address: int) -> None:
        broker_id, epoch = cast("int", data["brokerId"]), cast("int", data["brokerEpoch"])
        self.image.brokers[broker_id] = Broker(epoch, address)

    def _unregister_broker(self, data: Data, address: int) -> None:
        self.image.brokers.pop(cast("int", data["brokerId"]), None)
        if data.get("leavesIsrs"):
            self._append_where_changed(self.image.topics.values(), address)

    def _fence(self, data: Data, address: int) -> str | None:
        reason = self._of_broker(data["id"], data["epoch"], address)
        if reason is None and data.get("leavesIsrs"):
            self._append_where_changed(self.image.topics.values(), address)
        return reason

    def _unfence(self, data: Data, address: int) -> str | None:
        return self._of_broker(data["id"], data["epoch"], address)

    def _change_broker(self, data: Data, address: int) -> str | None:
        after = brokers.changed({}, types.BROKER_REGISTRATION_CHANGE, data)
        if isinstance(after, str):
            return after
        return self._of_broker(data["brokerId"], data["brokerEpoch"], address)

    def _of_broker(self, broker_id: object, epoch: object, address: int) -> str | None:
        """Add a record to the changes of a broker."""
        broker = self.image.brokers.get(cast("int", broker_id))
        if broker is None:
            return f"there is no broker {broker_id}"
        if broker.epoch != epoch:
            return f"broker {broker_id} has epoch {broker.epoch}, not {epoch}"
        broker.addresses.append(address)
        return None

    def _failed_replicas(self, data: Data, address: int) -> None:
        self.image.failed_replicas[cast("int", data["brokerId"])] = address

    def _register_controller(self, data: Data, address: int) -> str | None:
        for endpoint in cast("list[Data]", data["endPoints"]):
            if endpoint["securityProtocol"] not in _SECURITY_PROTOCOLS:
                return f"there is no security protocol {endpoint['securityProtocol']}"
        self.image.controllers[cast("int", data["controllerId"])] = address
        return None

    def _config(self, data: Data, address: int) -> None:
        configs = self.image.configs
        resource = cast("int", data["resourceType"]), cast("str", data["resourceName"])
        self._had_configs.setdefault(resource, resource in configs)
        _put(
            configs, resource, cast("str", data["name"]), None if data["value"] is None else address
        )

    def _quota(self, data: Data, address: int) -> None:
        parts = cast("list[Data]", data["entity"])
        names = {
            cast("str", one["entityType"]): cast("str | None", one["entityName"]) for one in parts
        }
        entity = tuple(sorted(names.items(), key=lambda part: part[0]))
        _put(
            self.image.quotas, entity, cast("str", data["key"]), None if data["remove"] else address
        )

    def _producer_ids(self, _data: Data, address: int) -> None:
        self.image.producer_ids = address

    def _put_acl(self, data: Data, address: int) -> None:
        acl_id = cast("bytes", data["id"])
        self._had_acls.setdefault(acl_id, acl_id in self.image.acls)
        self.image.acls[acl_id] = address

    def _remove_acl(self, data: Data, _address: int) -> str | None:
        acl_id = cast("bytes", data["id"])
        had = self._had_acls.setdefault(acl_id, acl_id in self.image.acls)
        if self.image.acls.pop(acl_id, None) is None and not had:
            return "there is no ACL with this id"
        return None

    def _put_scram(self, data: Data, address: int) -> None:
        scram, user = self.image.scram, cast("str", data["name"])
        if "credentials" not in data:
            scram.setdefault(cast("int", data["mechanism"]), {})[user] = address
            return
        for users in scram.values():
            users.pop(user, None)
        for credential in cast("list[Data]", data["credentials"]):
            scram.setdefault(cast("int", credential["mechanism"]), {})[user] = address

    def _remove_scram(self, data: Data, _address: int) -> None:
        users = self.image.scram.get(cast("int", data["mechanism"]), {})
        users.pop(cast("str", data["name"]), None)

    def _put_token(self, data: Data, address: int) -> None:
        self.image.tokens[cast("str", data["tokenId"])] = address

    def _remove_token(self, data: Data, _address: int) -> None:
        self.image.tokens.pop(cast("str", data["tokenId"]), None)

    def _feature(self, data: Data, address: int) -> str | None:
        name, level = cast("str", data["name"]), cast("int", data["featureLevel"])
        if name == METADATA_VERSION:
            if level not in _METADATA_LEVELS:
                return f"there is no metadata.version {level}"
            self.image.metadata_version = level, address
        elif name != _KRAFT_VERSION:
            if level:
                self.image.features[name] = level, address
            else:
                self.image.features.pop(name, None)
        return None

    _RULES: ClassVar[dict[int, Rule]] = {
        types.REGISTER_BROKER: _register_broker,
        types.UNREGISTER_BROKER: _unregister_broker,
        types.TOPIC: _put_topic,
        types.PARTITION: _put_partition,
        types.CONFIG: _config,
        types.PARTITION_CHANGE: _change_partition,
        types.FENCE_BROKER: _fence,
        types.UNFENCE_BROKER: _unfence,
        types.REMOVE_TOPIC: _remove_topic,
        types.DELEGATION_TOKEN: _put_token,
        types.USER_SCRAM_CREDENTIAL: _put_scram,
        types.FEATURE_LEVEL: _feature,
        types.FAILED_REPLICAS: _failed_replicas,
        types.CLIENT_QUOTA: _quota,
        types.PRODUCER_IDS: _producer_ids,
        types.BROKER_REGISTRATION_CHANGE: _change_broker,
        types.ACCESS_CONTROL_ENTRY: _put_acl,
        types.REMOVE_ACCESS_CONTROL_ENTRY: _remove_acl,
        types.NO_OP: _nothing,
        types.ZK_MIGRATION_STATE: _nothing,
        types.REMOVE_USER_SCRAM_CREDENTIAL: _remove_scram,
        types.REMOVE_DELEGATION_TOKEN: _remove_token,
        types.REGISTER_CONTROLLER: _register_controller,
        types.CLEAR_ELR: _clear_elr,
    }


def _put(table: dict[K, dict[str, int]], whom: K, key: str, address: int | None) -> None:
    """Set a key of a resource, or remove it; a resource without keys vanishes."""
    keys = table.setdefault(whom, {})
    if address is None:
        keys.pop(key, None)
    else:
        keys[key] = address
    if not keys:
        del table[whom]
