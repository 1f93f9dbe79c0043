"""Findings of several checks are joined by cause."""

from dataclasses import replace

from kraftops.checkup.joining import joined
from kraftops.findings.finding import Finding, Place, Severity, Stake


def finding(code: str, severity: Severity = Severity.RISK, **place: object) -> Finding:
    return Finding(code, severity, f"text of {code}", Place(**place))  # type: ignore[arg-type]


def codes(findings: list[Finding]) -> list[str]:
    return [each.code for each in joined(findings, lambda _: None)]


def test_fault_of_many_partitions_of_a_disk_is_one_finding() -> None:
    many = [
        Finding(
            "missing-end",
            Severity.LOSS,
            f"t-{number} is short",
            Place(directory="/d", topic="t", partition=number),
            stake=Stake(2, 100),
        )
        for number in range(400)
    ]

    (one,) = joined(many, lambda _: 1)

    assert one.count == 400
    assert one.stake == Stake(800, 40_000)
    assert len(one.evidence) == 5


def test_opposite_orders_of_start_are_two_findings() -> None:
    cures = ("start broker 1 before broker 2", "start broker 2 before broker 1")
    lost = [
        replace(finding("records-cut", topic="t", partition=number), cure=cure)
        for number, cure in enumerate(cures)
    ]

    assert [cut.cure for cut in joined(lost, lambda _: None)] == [*cures]


def test_the_same_finding_of_two_checks_is_told_once() -> None:
    assert codes([finding("late-start"), finding("late-start")]) == ["late-start"]


def test_worst_come_first() -> None:
    found = [finding("incident", Severity.NOTE), finding("missing-end", Severity.LOSS)]

    assert codes(found) == ["missing-end", "incident"]


def test_effect_is_evidence_of_its_cause_on_the_same_node() -> None:
    cause = finding("start-refused", Severity.STOPS, node=1)
    effect = finding("server-stops", Severity.STOPS, node=1)
    other = finding("server-stops", Severity.STOPS, node=2)

    first, second = joined([other, effect, cause], lambda _: None)

    assert (first.code, second.code) == ("server-stops", "start-refused")
    assert first.place.node == 2
    assert [fact.source for fact in second.evidence] == ["server-stops"]


def test_lost_quorum_hides_no_broker_that_has_lost_partitions() -> None:
    quorum = finding("quorum-lost", Severity.STOPS)
    voter = finding("not-formatted", Severity.STOPS, node=1)
    broker = finding("not-formatted", Severity.STOPS, node=103)
    lost = [
        finding("missing-partition", Severity.LOSS, node=103, topic="t", partition=partition)
        for partition in range(3)
    ]

    first, second = joined([voter, broker, *lost, quorum], lambda _: None)

    assert [fact.source for fact in first.evidence] == ["not-formatted"]
    assert (second.place.node, second.severity) == (103, Severity.LOSS)
    assert second.evidence[0].fact.endswith(", as t-1, t-2")


def test_node_with_both_roles_that_is_down_is_one_finding() -> None:
    down = [finding(code, node=1) for code in ("voter-down", "broker-down")]

    assert codes([*down, finding("voter-down", node=2)]) == ["broker-down", "voter-down"]


def test_path_tells_the_node() -> None:
    cause = finding("start-refused", Severity.STOPS, file="/n1/d/t-0")
    effect = finding("server-stops", Severity.STOPS, directory="/n1/d")

    assert len(joined([cause, effect], lambda path: 1 if path.startswith("/n1") else None)) == 1


def test_incidents_stay_apart() -> None:
    assert codes([finding("incident", file="/m", offset=number) for number in (1, 2)]) == [
        "incident",
        "incident",
    ]


def test_file_for_a_log_directory_is_the_cause_of_what_it_lacks() -> None:
    cause = finding("not-a-directory", Severity.STOPS, node=1)
    effect = finding("missing-partition", Severity.STOPS, node=1, topic="t", partition=0)

    assert codes(joined([effect, cause], lambda _: None)) == ["not-a-directory"]
