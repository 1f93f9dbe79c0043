"""The steps after a recovery name nodes and complete commands, in order."""

import shlex
import subprocess
import tarfile
from pathlib import Path

from kraftops.recovery.procedure import WorkStep, work_steps
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import no_ops, records_batch
from tests.helpers.nodes.lost_quorums import (
    IDS,
    MORE,
    Planner,
    broker,
    other_node,
    survivor,
    write_meta,
)


def steps(plan: Planner, node: Path, *sources: str, **options: str) -> list[WorkStep]:
    return work_steps(plan(node, *sources, **options), {})


def test_lost_voters_are_stopped_first_and_join_at_the_end(tmp_path: Path, plan: Planner) -> None:
    found = steps(plan, survivor(tmp_path / "node"))

    assert found[0].text == "keep controllers 2 and 3 from starting with their old disks"
    starts = [step.node_id for step in found if "start" in (step.command or "")]
    assert starts == [1, 2, 3]
    assert "controllers add" in (found[-2].command or "")
    assert [step.node_id for step in found[-5:-1]] == [3, 3, 3, 3]
    assert found[-1].check == "node 3 is a voter, too"


def test_wipe_does_nothing_on_another_host(tmp_path: Path, plan: Planner) -> None:
    found = steps(plan, survivor(tmp_path / "node"))

    (wipe,) = [step.command for step in found if "wipe" in step.text and step.node_id == 2]
    assert wipe
    assert wipe.startswith('if grep -qsx node.id=2 "$LOG_DIR"/meta.properties; then rm ')


def test_steps_of_other_nodes_have_no_path_of_this_one(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    other_node(node / "c2", 2)
    voters = ",".join(f"{n}@localhost:29093:{to_text(IDS[n])}" for n in (1, 2))
    named = steps(plan, node, "c2", voters=voters)

    for step in [*steps(plan, node), *named]:
        if step.node_id not in (None, 1):
            words = shlex.split(step.command or "")
            assert not [word for word in words if word.startswith(("meta", "server"))], step
    (same,) = [step.text for step in named if "same log" in step.text]
    assert "kafka-storage recover-plan" in same


def test_one_lost_controller_is_told_of_in_the_singular(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4)))
    other_node(node / "c2", 2)
    voters = ",".join(f"{n}@localhost:29093:{to_text(IDS[n])}" for n in (1, 2))

    texts = [step.text for step in steps(plan, node, "c2", voters=voters)]

    assert texts[0].startswith("stop broker 4: ")
    assert texts[1] == "keep controller 3 from starting with its old disk"


def test_broker_that_is_ahead_moves_its_log_away(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4), epoch=2))
    other_node(node / "b4", 4, records_batch(5, broker(4)), records_batch(6, broker(5)))

    found = steps(plan, node, "b4")

    (move,) = [step for step in found if "broker 4 has applied" in step.text]
    assert move.node_id == 4
    assert (move.command or "").startswith("mv ")
    assert (move.command or "").endswith("__cluster_metadata-0.of-4")


def test_commands_have_no_controls_of_a_terminal(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "of a\x1b[2J", records_batch(5, broker(4), epoch=2))
    other_node(node / "b\n4", 4, records_batch(5, broker(4)), records_batch(6, broker(5)))

    commands = [step.command for step in steps(plan, node, "b\n4") if step.command]

    assert all(command.isprintable() for command in commands)
    (move,) = [command for command in commands if command.startswith("mv ")]
    subprocess.run(["sh", "-c", move], check=True)
    assert (node / "__cluster_metadata-0.of-4").is_dir()


def test_no_command_has_the_path_of_an_unpacked_archive(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4)), no_ops(6, 1, epoch=2))
    for name, node_id in (("b4", 4), ("c2", 2)):
        ahead = [records_batch(6, broker(5))] if node_id == 4 else []
        other = other_node(tmp_path / name, node_id, records_batch(5, broker(4)), *ahead)
        with tarfile.open(node / f"{name}.tar", "w") as archive:
            archive.add(other, "data")

    found = steps(plan, node, "b4.tar", "c2.tar")

    (move,) = [step for step in found if "broker 4 has applied" in step.text]
    assert move.command is None
    assert not [step for step in found if "kraftops-" in (step.command or "")]
    (wipe,) = [step.command for step in found if "wipe" in step.text and step.node_id == 2]
    assert 'rm -rf "$LOG_DIR"/__cluster_metadata-0' in (wipe or "")


def test_lost_voter_that_is_a_broker_starts_once(tmp_path: Path, plan: Planner) -> None:
    """As a controller with a new disk, not before as a broker with the old one."""
    registrations = [records_batch(4 + number, broker(number)) for number in (1, 2, 3, 4)]
    node = survivor(tmp_path / "node", *registrations)

    found = steps(plan, node)

    assert "start broker 4" in [step.text for step in found]
    assert (found[-1].check or "").endswith("restart node 3 once more, and look again")
    (form,) = [step.command or "" for step in found if "node 2: format" in step.text]
    assert form.endswith(' --force -c "$CONFIG"')


def test_broker_with_a_new_directory_id_may_have_to_start_twice(
    tmp_path: Path, plan: Planner
) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(1)))
    assert not [step for step in steps(plan, node) if "once more" in (step.check or "")]

    write_meta(node / "meta", 1, directory_id="3Db5QLSqSZieL3rJBUUegA")

    check = steps(plan, node)[-1].check or ""
    assert check.endswith("restart node 1 once more, and look again")


def test_other_voters_get_the_log_that_was_named(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    other_node(node / "c2", 2, *MORE)
    other_node(node / "c3", 3)
    voters = ",".join(f"{n}@localhost:29093:{to_text(IDS[n])}" for n in (1, 2, 3))

    for choice in ("meta", None):
        named = {"choice": choice} if choice else {}
        found = steps(plan, node, "c2", "c3", voters=voters, **named)
        (text,) = [step.text for step in found if "same log" in step.text]
        assert text.startswith("give voter 2 " if choice else "give voter 3 ")
        assert ("--from and --choose" in text) == bool(choice)
