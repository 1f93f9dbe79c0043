"""Make up data for any version of any message, with nothing but its table to go by."""

from collections.abc import Callable
from functools import partial
from random import Random

from kraftops.schema.message import Field, Message, present

WORDS = (
    *("orders", "billing.invoices", "app", "kafka-7.example.org", "rack-a", "x", "OAUTHBEARER"),
    *('CN=Jörg Müller,OU="IT",O=Beispiel', "C:\\logs\\data", "注文", "line\nbreak\ttab", ""),
    "follower.replication.throttled.replicas",
    ",".join(f"{number}:{number % 7}" for number in range(60)),
)
NUMBERS = (*range(13), *range(13), -1, 100, 9092, 86_400_000, 2_147_483_647)
DOUBLES = (0.5, 1048576.0, 1e7, 123.456, 1e-5, 0.0, 2e300)
RANGES = {
    "int8": range(-1, 1 << 7),
    "int16": range(-1, 1 << 15),
    "uint16": range(1 << 16),
    "int32": range(-1, 1 << 31),
    "uint32": range(1 << 32),
}
KNOWN_IDS = 5000


class MadeUp:
    """Data that is never the same twice; some ids and names come again."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.ids = [random.randbytes(16) for _ in range(KNOWN_IDS)]
        self._scalars: dict[str, Callable[[], object]] = {
            "bool": lambda: random.random() < 0.5,
            "float64": lambda: random.choice(DOUBLES),
            "int64": self._long,
            "uuid": self._id,
            "string": self.text,
            "bytes": lambda: random.randbytes(random.randrange(70)),
            **{name: partial(self._number, fitting) for name, fitting in RANGES.items()},
        }

    def data(self, message: Message, version: int) -> dict[str, object]:
        """Return plain data for a version of *message*."""
        return self._struct(message.fields, version)

    def text(self) -> str:
        """Return a word, a few, or one with a number."""
        random = self.random
        word = random.choice(WORDS)
        kind = random.random()
        if kind < 0.6:
            return f"{word}-{random.randrange(100_000)}"
        return word if kind < 0.9 else "/".join(random.choices(WORDS, k=3))

    def _struct(self, fields: tuple[Field, ...], version: int) -> dict[str, object]:
        random = self.random.random
        return {
            field.name: self._value(field, version)
            for field in present(fields, version)
            # What has a tag is there for what is rare.
            if field.tag is None or random() < 0.4
        }

    def _value(self, field: Field, version: int) -> object:
        random = self.random.random
        if field.nullable and random() < 0.2:
            return None
        if field.array:
            return [self._one(field, version) for _ in range(int(random() * 7))]
        return self._one(field, version)

    def _one(self, field: Field, version: int) -> object:
        if field.is_struct:
            return self._struct(field.fields, version)
        return self._scalars[field.type]()

    def _number(self, fitting: range) -> int:
        number = self.random.choice(NUMBERS)
        return number if number in fitting else 1

    def _long(self) -> int:
        random = self.random
        return random.choice((-1, 0, 7, random.randrange(1 << 40), random.randrange(1 << 62)))

    def _id(self) -> bytes:
        random = self.random
        return random.choice(self.ids) if random.random() < 0.8 else random.randbytes(16)
