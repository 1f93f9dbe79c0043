"""The directories of partitions by their replicas: by broker, by rack, and by directory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache

from kraftops.display.order import in_natural_order
from kraftops.engine.metadata_state import ReplicaRole
from kraftops.image.state.broker import broker_status
from kraftops.image.state.image import MetadataImage
from kraftops.tree import leaves
from kraftops.tree.names import integer_of, uuid_of
from kraftops.tree.node import Directory, Leaf, Node, beginning_with, fixed, some_of
from kraftops.tree.view import View
from kraftops.uuids import to_text

Image = MetadataImage
Find = Callable[[Sequence[bytes] | None], Mapping[bytes, Sequence[int]]]
"""Returns the numbers of partitions by the ids of topics: of these topics, or of all."""

_MOST_DIGITS = 10  # of a partition's number
_AT_ONCE = 4  # topics that are looked at together, where a few partitions are enough
_RESERVED = {bytes(16): "migrating", bytes(15) + b"\1": "unassigned", bytes(15) + b"\2": "lost"}


def by_broker(view: View) -> Node:
    """Return the directory of the partitions that each broker leads and follows."""
    image = view.image
    loads = cache(image.fold.broker_loads)

    def about(number: int) -> dict[str, object]:
        registered = image.brokers.get(number)
        state = None if registered is None else image.broker_state(registered, whole=False)
        load = loads().get(number)
        replicas, leaders = load or (0, 0)
        return {
            "state": "unregistered" if state is None else broker_status(state),
            "rack": None if state is None else state["rack"],
            "leaders": leaders,
            "followers": replicas - leaders,
        }

    def get(name: str) -> Node | None:
        number = integer_of(name)
        if number is None or (number not in image.brokers and number not in loads()):
            return None
        return replace(_roles(image, {number}), about=lambda: about(number))

    def names() -> list[str]:
        return list(map(str, sorted(image.brokers.keys() | loads().keys())))

    def beginning(text: str, most: int) -> list[str]:
        return some_of(beginning_with(text, sorted(map(str, image.brokers))), most)

    return replace(_view(names, get), beginning=beginning)


def by_rack(view: View) -> Node:
    """Return the directory of the partitions that brokers of each rack lead and follow."""
    image = view.image

    @cache
    def racks() -> dict[str, list[int]]:
        brokers_by_rack: dict[str, list[int]] = {}
        for number, broker in sorted(image.brokers.items()):
            if rack := image.broker_state(broker, whole=False)["rack"]:
                brokers_by_rack.setdefault(rack, []).append(number)
        return brokers_by_rack

    def about(brokers: list[int]) -> dict[str, object]:
        loads = [load for broker, load in image.fold.broker_loads().items() if broker in brokers]
        leaders = sum(load.leaders for load in loads)
        replicas = sum(load.replicas for load in loads)
        return {"brokers": brokers, "leaders": leaders, "followers": replicas - leaders}

    def get(name: str) -> Node | None:
        brokers = racks().get(name)
        if brokers is None:
            return None
        return replace(_roles(image, set(brokers)), about=lambda: about(brokers))

    return _view(lambda: in_natural_order(racks()), get)


def by_directory(view: View) -> Node:
    image = view.image
    used = cache(image.fold.directories)

    @cache
    def owners() -> dict[bytes, int]:
        states = {
            number: image.broker_state(broker, whole=False)
            for number, broker in image.brokers.items()
        }
        return {id_: number for number, state in states.items() for id_ in state["logDirs"]}

    def about(directory: bytes) -> dict[str, object]:
        replicas = used().get(directory, {})
        owner = owners().get(directory)
        path = _RESERVED.get(directory) or view.directory_paths().get(directory)
        return {
            "brokers": sorted({*replicas} if owner is None else {*replicas, owner}),
            "path": path,
            "replicas": sum(replicas.values()),
        }

    def get(name: str) -> Node | None:
        directory = uuid_of(name)
        if directory is None or (directory not in owners() and directory not in used()):
            return None
        node = placed(image, lambda topics: image.fold.in_directory(directory, topics))
        return replace(node, about=lambda: about(directory))

    def names() -> list[str]:
        return sorted(map(to_text, owners().keys() | used().keys()))

    def beginning(text: str, most: int) -> list[str]:
        return some_of(beginning_with(text, sorted(map(to_text, owners()))), most)

    return replace(_view(names, get), beginning=beginning)


def _view(names: Callable[[], Sequence[str]], get: Callable[[str], Node | None]) -> Directory:
    return Directory(
        names,
        get,
        newest=lambda: None,
        last_change=lambda: None,
        is_ordered=True,
        is_view=True,
    )


def _roles(image: Image, brokers: AbstractSet[int]) -> Directory:
    def of(role: ReplicaRole) -> Directory:
        return placed(image, lambda topics: image.fold.with_role(role, brokers, topics))

    children = {"leader": of(ReplicaRole.LEADER), "follower": of(ReplicaRole.FOLLOWER)}
    return replace(fixed(children), newest=lambda: None, last_change=lambda: None)


def placed(image: Image, find: Find) -> Directory:
    """Return the flat directory of some partitions, with names as `orders-0`.

    A topic that lost its name to another is left out. Nothing is looked for before it is needed.
    """
    partitions = _Placed(image, find)
    return Directory(
        partitions.names,
        partitions.get,
        is_known_flat=True,
        newest=lambda: None,
        last_change=lambda: None,
        is_ordered=True,
        beginning=partitions.beginning,
    )


class _Placed:
    """Partitions that are found when they are needed: all, those of a topic, or a few."""

    def __init__(self, image: Image, find: Find) -> None:
        self._image = image
        self._find = find
        self._all: Mapping[bytes, Sequence[int]] | None = None
        self._of_topic: dict[bytes, Sequence[int]] = {}

    def names(self) -> Iterator[str]:
        """Yield the names of all partitions, in order."""
        if self._all is None:
            self._all = self._find(None)
        ids = self._image.topic_ids
        for topic in in_natural_order(ids):
            for number in self._all.get(ids[topic], ()):
                yield f"{topic}-{number}"

    def get(self, name: str) -> Node | None:
        for topic, number in _parts(name):
            topic_id = self._image.topic_ids.get(topic)
            if topic_id is not None and number in self._numbers(topic_id):
                return Leaf(leaves.PARTITION, self._image, (topic_id, number))
        return None

    def _numbers(self, topic_id: bytes) -> Sequence[int]:
        if self._all is not None:
            return self._all.get(topic_id, ())
        if topic_id not in self._of_topic:
            self._of_topic[topic_id] = self._find([topic_id]).get(topic_id, ())
        return self._of_topic[topic_id]

    def beginning(self, text: str, most: int) -> list[str]:
        """Return the names that begin with a text, see `Directory`."""
        image = self._image
        # The text may end in a number of a partition.
        parts = [*_parts(text), *_parts(f"{text}1")]
        topics = [topic for topic, _ in parts if topic in image.topic_ids]
        topics = [*dict.fromkeys([*topics, *beginning_with(text, image.sorted_topics)])]
        some = self._first(topics, text, most + 1)
        return (
            some if len(some) <= most else [*some[: most - 1], *self._first(topics[::-1], text, 1)]
        )

    def _first(self, topics: Sequence[str], text: str, most: int) -> list[str]:
        some: list[str] = []
        for start in range(0, len(topics), _AT_ONCE):
            ids = {self._image.topic_ids[name]: name for name in topics[start : start + _AT_ONCE]}
            for topic_id, numbers in self._find(list(ids)).items():
                names = (f"{ids[topic_id]}-{number}" for number in numbers)
                some += [name for name in names if name.startswith(text)]
            if len(some) >= most:
                break
        return some[:most]


def _parts(name: str) -> Iterator[tuple[str, int]]:
    """Yield topics and numbers of partitions that have this name together; a number may be < 0."""
    topic, dash, digits = name.rpartition("-")
    if not (dash and digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        return
    number = int(digits)
    yield topic, number
    if topic.endswith("-") and number:
        yield topic[:-1], -number
