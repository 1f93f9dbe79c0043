"""A format is planned as requested, or refused."""

import os
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from kraftops.errors import ConfigError
from kraftops.log.batch import Record, records
from kraftops.records import control
from kraftops.records.meaning import Decoded
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format import plan as format_plan
from kraftops.uuids import from_text, to_text
from tests.helpers.logs.segments import batches_of
from tests.helpers.nodes.formats import BROKER, NODE, A, B, plan, refusal, run
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    SNAPSHOT,
    STATIC,
    directory_ids,
    entries,
    formatted,
    make_node,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
pytestmark = pytest.mark.usefixtures("working_directory")


def control_fields(record: Record) -> Any:
    found = control.decode(record.key, record.value)
    assert isinstance(found, Decoded)
    return found.data


class TestPlan:
    @pytest.mark.parametrize(
        ("quorum", "changes", "asked", "kinds"),
        [
            pytest.param(STATIC, {}, {}, ("metadata", "data"), id="static"),
            pytest.param(
                STATIC, {"metadata_log_dir": "d2"}, {}, ("data", "metadata"), id="another first"
            ),
            pytest.param(
                STATIC, {"metadata_log_dir": "m"}, {}, ("data", "data", "metadata"), id="a third"
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"standalone": True},
                ("dynamic metadata voter", "data"),
                id="standalone",
            ),
            pytest.param(
                DYNAMIC, {}, {"no_initial_controllers": True}, ("metadata", "data"), id="joining"
            ),
            pytest.param(
                STATIC,
                {},
                {"no_initial_controllers": True},
                ("metadata", "data"),
                id="static, no initial controllers",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@a:1:{A},2@b:2:{B}"},
                ("dynamic metadata voter", "data"),
                id="a voter",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"2@b:2:{B}"},
                ("dynamic metadata", "data"),
                id="no voter",
            ),
            pytest.param(DYNAMIC, BROKER, {}, ("metadata", "data"), id="broker"),
            pytest.param(
                DYNAMIC,
                BROKER,
                {"initial_controllers": f"2@b:2:{B}"},
                ("dynamic metadata", "data"),
                id="broker with voters",
            ),
        ],
    )
    def test_directories_have_kafkas_kinds(
        self,
        quorum: dict[str, str],
        changes: dict[str, str],
        asked: dict[str, Any],
        kinds: tuple[str, ...],
    ) -> None:
        make_node(NODE, quorum, **changes)

        found = plan(**asked)

        assert [target.kind for target in found.targets] == [f"{kind} directory" for kind in kinds]
        for target in found.targets:
            names = [os.path.relpath(file.path, target.directory.path) for file in target.files]
            snapshot = [SNAPSHOT] if target.kind.startswith("dynamic") else []
            assert names == ["bootstrap.checkpoint", *snapshot, META]

    @pytest.mark.parametrize(
        ("quorum", "changes", "asked", "level"),
        [
            (STATIC, {}, {}, 0),
            (STATIC, {}, {"no_initial_controllers": True}, 0),
            (DYNAMIC, {}, {"standalone": True}, 1),
            (DYNAMIC, {}, {"no_initial_controllers": True}, 1),
            (DYNAMIC, {}, {"initial_controllers": f"1@a:1:{A}"}, 1),
            (DYNAMIC, BROKER, {}, 0),
            (DYNAMIC, BROKER, {"no_initial_controllers": True}, 1),
        ],
    )
    def test_quorum_is_dynamic_where_it_is_asked_for_and_no_voters_are_configured(
        self, quorum: dict[str, str], changes: dict[str, str], asked: dict[str, Any], level: int
    ) -> None:
        make_node(NODE, quorum, **changes)

        assert plan(**asked).bootstrap.features["kraft.version"] == level

    def test_scram_is_possible_since_its_first_version(self) -> None:
        make_node(NODE)

        found = plan(release="3.5-IV2", credentials=["SCRAM-SHA-256=[name=a,password=bcd]"])

        assert [one.name for one in found.bootstrap.credentials] == ["a"]

    def test_snapshot_has_the_first_listener_and_the_time(self) -> None:
        make_node(
            NODE,
            DYNAMIC,
            listeners="PLAINTEXT://:1,FIRST://localhost:65535,SECOND://localhost:3",
            controller_listener_names="FIRST,SECOND",
            listener_security_protocol_map="PLAINTEXT:PLAINTEXT,FIRST:SSL,SECOND:SSL",
        )
        before = time.time()

        first, _ = plan(standalone=True).targets
        (snapshot,) = (one for one in first.files if one.path.endswith(SNAPSHOT))

        body, _ = batches_of(snapshot.data)
        header, _, voters = (control_fields(record) for record in records(body))
        (voter,) = voters["voters"]
        assert voter["endpoints"] == [{"name": "FIRST", "host": "localhost", "port": 65535}]
        assert before - 1 <= header["lastContainedLogTimestamp"] / 1000 <= time.time()

    def test_voter_has_the_directory_id_of_the_request(self) -> None:
        make_node(NODE, DYNAMIC)

        first, second = plan(initial_controllers=f"2@b:2:{B},1@a:1:{A}").targets

        assert first.directory_id == from_text(A)
        assert second.directory_id not in (from_text(A), from_text(B))

    def test_voter_in_the_log_of_a_server_keeps_its_directory_id(self) -> None:
        """With `--ignore-formatted` and other words for the quorum."""
        make_node(NODE, DYNAMIC)
        first, _ = run(standalone=True)
        Path(f"d1/{META}").unlink()
        Path(f"d1/{SNAPSHOT}").with_name(f"{0:020}.log").touch()

        found = plan(no_initial_controllers=True, ignore_formatted=True).targets

        assert [one.directory_id for one in found] == [first.directory_id]

    def test_log_that_cannot_be_read_names_no_directory_id(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_node(NODE, DYNAMIC)
        first, _ = run(standalone=True)
        Path(f"d1/{META}").unlink()
        Path(f"d1/{SNAPSHOT}").with_name(f"{0:020}.log").touch()
        monkeypatch.setattr(format_plan, "read_metadata_log", Mock(side_effect=PermissionError))

        (found,) = plan(no_initial_controllers=True, ignore_formatted=True).targets

        assert found.directory_id != first.directory_id

    def test_directory_ids_are_new(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not that of a voter, of a formatted directory or of a new one."""
        make_node(NODE, DYNAMIC, log_dirs="d1,d2")
        run(initial_controllers=f"1@a:1:{A}")
        made = iter([A, *directory_ids(NODE), B, OTHER_ID, OTHER_ID, CLUSTER_ID])
        monkeypatch.setattr(format_plan, "random_uuid", lambda: from_text(next(made)))
        make_node(NODE, DYNAMIC, log_dirs="d1,d2,d3,d4")

        found = plan(initial_controllers=f"1@a:1:{A},2@b:2:{B}", ignore_formatted=True).targets

        assert [to_text(target.directory_id) for target in found] == [OTHER_ID, CLUSTER_ID]

    @pytest.mark.parametrize(
        ("changes", "host"),
        [
            ({}, "localhost"),
            ({"listeners": "PLAINTEXT://:1,CONTROLLER://:29093"}, "localhost"),
            ({"listeners": "PLAINTEXT://:1,CONTROLLER://[::1]:29093"}, "0:0:0:0:0:0:0:1"),
            (
                {"advertised_listeners": "PLAINTEXT://a:1,CONTROLLER://public.example:29093"},
                "public.example",
            ),
        ],
    )
    def test_standalone_voter_has_the_advertised_address(
        self, changes: dict[str, str], host: str
    ) -> None:
        make_node(NODE, DYNAMIC, **changes)

        found = plan(standalone=True)

        assert found.voters
        assert [(one.node_id, one.host, one.port) for one in found.voters] == [(1, host, 29093)]
        assert found.voters[0].directory_id == found.targets[0].directory_id

    @pytest.mark.parametrize(
        ("quorum", "changes", "asked", "message"),
        [
            pytest.param(
                STATIC, {}, {"release": "9.9"}, "Unknown metadata.version '9.9'. ", id="r"
            ),
            pytest.param(
                STATIC,
                {},
                {"features": ["x"]},
                "Can't parse feature=level string x: equals sign not found.",
                id="f",
            ),
            pytest.param(
                STATIC,
                {},
                {"standalone": True},
                "You cannot specify controller.quorum.voters and format the node with ",
                id="static and standalone",
            ),
            pytest.param(
                STATIC,
                {},
                {"initial_controllers": f"1@a:1:{A}"},
                "You cannot specify controller.quorum.voters and format the node with ",
                id="static and voters",
            ),
            pytest.param(
                DYNAMIC,
                BROKER,
                {"standalone": True},
                "You can only use --standalone on a controller.",
                id="standalone broker",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {},
                "Because controller.quorum.voters is not set on this controller, you must specify ",
                id="no choice",
            ),
            pytest.param(
                DYNAMIC, {}, {"initial_controllers": ""}, "No voters given.", id="no voters"
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@:1:{A}"},
                "voter 1 has no host",
                id="voter without a host",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@a:1:{A},2@b:2:{A}"},
                f"voters 1 and 2 have one directory id, {A}",
                id="shared directory id",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": "1@a:1:AAAAAAAAAAAAAAAAAAAAAg"},
                "voter 1 has the reserved directory id AAAAAAAAAAAAAAAAAAAAAg",
                id="reserved directory id",
            ),
            pytest.param(
                STATIC,
                {},
                {"release": "3.5-IV1", "credentials": ["nonsense"]},
                "SCRAM is only supported in metadata.version 3.5-IV2 or later.",
                id="scram too early",
            ),
            pytest.param(
                STATIC,
                {},
                {"credentials": ["SCRAM-SHA-1=[name=a,password=b]"]},
                "The add-scram mechanism SCRAM-SHA-1 is not supported.",
                id="scram mechanism",
            ),
            pytest.param(
                STATIC, {"log_dirs": "d1,./d1"}, {}, "d1 and ./d1 are one directory", id="twice"
            ),
            pytest.param(
                STATIC,
                {"log_dirs": "d1", "metadata_log_dir": "d2/../d1"},
                {},
                "d1 and d2/../d1 are one directory",
                id="metadata directory under another name",
            ),
        ],
    )
    def test_request_without_sense_is_refused(
        self, quorum: dict[str, str], changes: dict[str, str], asked: dict[str, Any], message: str
    ) -> None:
        make_node(NODE, quorum, **changes)

        assert refusal(**asked).startswith(message)

    @pytest.mark.parametrize(
        "changes", [{"metadata_log_dir": " "}, {"log_dirs": " "}, {"log_dirs": "d1,,d2"}]
    )
    def test_blank_directories_are_refused(self, changes: dict[str, str]) -> None:
        make_node(NODE, **changes)

        with pytest.raises(ConfigError):
            load_config(PROPERTIES)


class TestFormatted:
    """Directories that are formatted already."""

    def test_formatted_directory_is_refused_unless_it_is_to_be_ignored(self) -> None:
        make_node(NODE, log_dirs="d1")
        run()
        make_node(NODE, log_dirs="d1,d2")

        message = refusal()

        assert message == (
            "Log directory d1 is already formatted. Use --ignore-formatted to ignore this "
            "directory and format the others."
        )

    def test_only_new_directories_are_written(self) -> None:
        make_node(NODE, log_dirs="d1")
        run()
        before = [(path, path.stat()) for path in Path("d1").iterdir()]
        make_node(NODE, log_dirs="d1,d2")

        done = run(ignore_formatted=True)

        assert [target.directory.path for target in done] == ["d2"]
        assert formatted(NODE) == ["d1", "d2"]
        for path, status in before:
            assert (path, path.stat().st_mtime_ns) == (path, status.st_mtime_ns)
            assert path.stat().st_ino == status.st_ino

    def test_formatted_directories_leave_no_target(self) -> None:
        make_node(NODE)
        run()
        before = entries(NODE)

        done = run(ignore_formatted=True)

        assert done == []
        assert entries(NODE) == before

    @pytest.mark.parametrize("ignore_formatted", [False, True])
    def test_other_cluster_is_refused(self, *, ignore_formatted: bool) -> None:
        make_node(NODE, log_dirs="d2")
        run(OTHER_ID)
        make_node(NODE, log_dirs="d1,d2")

        message = refusal(ignore_formatted=ignore_formatted)

        assert message == (
            f"Invalid cluster.id in: d2/meta.properties. Expected {CLUSTER_ID}, but read {OTHER_ID}"
        )

    def test_other_node_is_refused(self) -> None:
        make_node(NODE)
        run()
        make_node(NODE, node_id="2", controller_quorum_voters="2@localhost:29093")

        assert refusal(ignore_formatted=True).startswith("Stored node id 1 doesn't match ")

    def test_copy_of_a_directory_is_refused(self) -> None:
        make_node(NODE)
        run()
        Path("d2/meta.properties").write_bytes(Path("d1/meta.properties").read_bytes())

        assert refusal(ignore_formatted=True).startswith("Duplicate directory ID Optional[")

    @pytest.mark.parametrize("content", ["", "version=0\n", "broker.id=1\n", "node.id=9\n"])
    def test_version_0_counts_as_formatted(self, content: str) -> None:
        make_node(NODE)
        Path("d1").mkdir()
        Path("d1/meta.properties").write_text(content)

        done = run(ignore_formatted=True)

        assert [target.directory.path for target in done] == ["d2"]
        assert Path("d1/meta.properties").read_text() == content
        assert os.listdir("d1") != []

    def test_version_0_of_another_broker_is_refused(self) -> None:
        make_node(NODE)
        Path("d1").mkdir()
        Path("d1/meta.properties").write_text("broker.id=7\n")

        assert refusal(ignore_formatted=True).startswith("Stored node id 7 doesn't match ")
