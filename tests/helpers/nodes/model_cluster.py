"""A model of one partition on several brokers, and of the controllers that elect its leader.

Its servers compare records, not epochs: a follower keeps what it has in common with its leader. The
controller follows Kafka's `PartitionChangeBuilder` and `ReplicationControlManager` (4.3.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

NOBODY = -1


@dataclass(frozen=True)
class Row:
    """A record: the epoch of its leader, and a number of its own."""

    epoch: int
    number: int


@dataclass
class Server:
    """A broker: its log, its leader-epoch-checkpoint, and the high watermark that it noted."""

    node_id: int
    log: list[Row] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    high_watermark: int = 0
    noted: int | None = None
    runs: bool = True

    def begin(self, epoch: int) -> None:
        """Begin to lead in an epoch."""
        self._assign(epoch, len(self.log))

    def append(self, row: Row) -> None:
        if not self.epochs or self.epochs[-1][0] < row.epoch:
            self._assign(row.epoch, len(self.log))
        self.log.append(row)

    def _assign(self, epoch: int, start: int) -> None:
        self.epochs = [entry for entry in self.epochs if entry[0] < epoch and entry[1] < start]
        self.epochs.append((epoch, start))

    def in_common(self, other: "Server") -> int:
        """Return how many records both logs begin with."""
        pairs = zip(self.log, other.log, strict=False)
        return next(
            (n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, (self.log, other.log)))
        )

    def cut(self, end: int) -> None:
        del self.log[end:]
        self.epochs = [entry for entry in self.epochs if entry[1] < end]
        self.high_watermark = min(self.high_watermark, end)
        if self.noted is not None:
            self.noted = min(self.noted, end)


@dataclass(frozen=True)
class Registration:
    """The partition as the metadata have it, and the brokers that are not fenced."""

    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()
    leader: int = NOBODY
    epoch: int = 0
    active: frozenset[int] = frozenset()


class Controller:
    """A controller: it changes the registration, and logs each state."""

    def __init__(self, first: Registration, replicas: Sequence[int], min_isr: int | None) -> None:
        """Begin with a registration; *min_isr* is None where the ELR is switched off."""
        self.now = first
        self.replicas = tuple(replicas)
        self.min_isr = min_isr
        self.history = [first]

    def set_isr(self, isr: Sequence[int]) -> None:
        """Take the ISR that the leader proposes."""
        self._change(tuple(isr), self.now.active)

    def fence(self, node_id: int, *, is_unclean: bool = False) -> None:
        """Fence a broker: its session is over, or it registers after a stop."""
        active = self.now.active - {node_id}
        isr = tuple(member for member in self.now.isr if member != node_id)
        if self.min_isr is None:
            self._change(isr or self.now.isr, active)  # the last member stays
        elif is_unclean:
            self._change(isr, active, unclean=node_id)
        else:
            self._change(isr, active)

    def unfence(self, node_id: int) -> None:
        self._change(self.now.isr, self.now.active | {node_id})

    def _change(self, isr: tuple[int, ...], active: frozenset[int], unclean: int = NOBODY) -> None:
        before = self.now
        elr: tuple[int, ...] = ()
        last_known = before.last_known
        if self.min_isr is not None and len(isr) < self.min_isr:
            candidates = sorted({*before.elr, *before.isr} - {*isr, unclean})
            elr = tuple(candidates)
        eligible = [n for n in self.replicas if n in active and n in (isr or elr)]
        leader = before.leader if before.leader in eligible else next(iter(eligible), NOBODY)
        is_last_known = not (isr or elr) and len(last_known) == 1 and last_known[0] in active
        if leader == NOBODY and self.min_isr is not None and is_last_known:
            leader, isr = last_known[0], last_known
        if leader != before.leader and leader in elr:
            isr, elr = (leader,), tuple(n for n in elr if n != leader)
        epoch = before.epoch + (leader != before.leader)
        if self.min_isr is not None:
            if leader == NOBODY and before.leader != NOBODY and not last_known:
                last_known = (before.leader,)
            elif leader != NOBODY:
                last_known = ()
        self.now = Registration(isr, elr, last_known, leader, epoch, active)
        if self.now != before:
            self.history.append(self.now)


class ModelCluster:
    """Brokers 0, 1, … with one partition; `live` lets random things happen."""

    def __init__(self, random: Random) -> None:
        self.random = random
        count = random.randint(2, 4)
        self.servers = [Server(node_id) for node_id in range(count)]
        self.min_isr = random.choice((None, None, 1, 2))
        everyone = tuple(range(count))
        first = Registration(everyone, leader=0, active=frozenset(everyone))
        self.controller = Controller(first, everyone, self.min_isr)
        self.acknowledged: set[tuple[int, Row]] = set()
        """Offsets and records that were below the leader's high watermark once."""
        self._rows = 0
        self.servers[0].begin(0)

    def live(self, steps: int) -> None:
        """Let things happen to brokers."""
        things = (self._produce, self._fetch, self._fetch, self._stop, self._start, self._shrink)
        for _ in range(steps):
            self.random.choices((*things, self._note), (4, 4, 4, 1, 2, 1, 1))[0]()
            self._advance()

    @property
    def leader(self) -> Server | None:
        """The broker that leads, if it runs."""
        leader = self.controller.now.leader
        return self.servers[leader] if leader != NOBODY and self.servers[leader].runs else None

    def _elected(self, before: int) -> None:
        now = self.controller.now
        if now.epoch != before and self.leader:
            self.leader.begin(now.epoch)

    def _produce(self) -> None:
        if self.leader:
            for _ in range(self.random.randint(1, 5)):
                self._rows += 1
                self.leader.append(Row(self.controller.now.epoch, self._rows))

    def _fetch(self) -> None:
        followers = [s for s in self.servers if s.runs and s is not self.leader]
        if self.leader and followers:
            self.fetch(self.random.choice(followers), self.random.randint(0, 6))

    def fetch(self, follower: Server, most: int) -> None:
        """Have a follower truncate, fetch some records, and join the ISR if it has them all."""
        leader = self.leader
        assert leader
        follower.cut(follower.in_common(leader))
        end = len(follower.log)
        for row in leader.log[end : end + most]:
            follower.append(row)
        follower.high_watermark = min(len(follower.log), leader.high_watermark)
        now = self.controller.now
        if follower.log == leader.log and follower.node_id not in now.isr:
            self.controller.set_isr((*now.isr, follower.node_id))

    def _advance(self) -> None:
        """Raise the leader's high watermark to what all of the ISR have."""
        leader, now = self.leader, self.controller.now
        if leader is None or (self.min_isr and len(now.isr) < self.min_isr):  # KIP-966
            return
        end = min(self.servers[n].in_common(leader) for n in now.isr)
        leader.high_watermark = max(leader.high_watermark, end)
        self.acknowledged |= set(enumerate(leader.log[: leader.high_watermark]))

    def _shrink(self) -> None:
        now = self.controller.now
        if self.leader and len(now.isr) > 1:
            slow = self.random.choice([n for n in now.isr if n != now.leader])
            self.controller.set_isr([n for n in now.isr if n != slow])

    def _note(self) -> None:
        server = self.random.choice(self.servers)
        if server.runs:
            server.noted = server.high_watermark

    def _stop(self) -> None:
        server = self.random.choice(self.servers)
        if server.runs:
            if self.random.random() < 0.5:
                server.noted = server.high_watermark
            before = self.controller.now.epoch
            self.controller.fence(server.node_id)
            server.runs = False
            self._elected(before)

    def _start(self) -> None:
        server = self.random.choice(self.servers)
        if not server.runs:
            self._begin(server, is_unclean=False)

    def _begin(self, server: Server, *, is_unclean: bool) -> None:
        before = self.controller.now.epoch
        self.controller.fence(server.node_id, is_unclean=is_unclean)
        self._elected(before)
        before = self.controller.now.epoch
        server.runs = True
        self.controller.unfence(server.node_id)
        self._elected(before)

    def recovered(self, image: Registration) -> None:
        """Stop all brokers, go on with this state of the metadata, and start all brokers.

        Sessions of brokers that the state has as active end in any order, before they start or not.
        """
        for server in self.servers:
            server.runs = False
        self.controller = Controller(image, range(len(self.servers)), self.min_isr)
        order = list(self.servers)
        self.random.shuffle(order)
        for server in order:
            for other in self.random.sample(self.servers, len(self.servers)):
                is_gone = not other.runs and other.node_id in self.controller.now.active
                if is_gone and self.random.random() < 0.3:
                    self.controller.fence(other.node_id)
            # A broker's epoch is the offset of its registration, which a lagging log lacks: the
            # controller takes the stop for an unclean one (`ClusterControlManager.registerBroker`).
            self._begin(server, is_unclean=self.random.random() < 0.5)


def with_leader(image: Registration, leader: int, epoch: int) -> Registration:
    """Return a state in which a broker alone is in sync, and leads in this epoch."""
    return replace(image, isr=(leader,), elr=(), last_known=(), leader=leader, epoch=epoch)
