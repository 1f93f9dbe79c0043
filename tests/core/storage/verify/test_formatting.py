"""Identities are mended only where it loses nothing: a format, a node id, a misspelt key."""

import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.image.verify.nodes import verify_nodes
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.configurations import load_configs
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import storage

IDS = 1, 2, 3, 101, 102, 103
METADATA_LOG = f"data/__cluster_metadata-0/{0:020}.log"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Path]:
    """The small cluster of the documentation: static voters 1, 2, 3, brokers 101 to 103."""
    with chdir(example_cluster(tmp_path)):
        yield Path()


def severe(*node_ids: int) -> list[Finding]:
    nodes = [read_node(load_config(f"node-{node_id}.properties")) for node_id in node_ids or IDS]
    findings = verify_nodes(nodes).findings
    # The data has one damaged batch, on broker 103.
    return [each for each in findings if each.is_severe and each.code != "start-cuts-log"]


def empty(cluster: Path, node_id: int) -> None:
    shutil.rmtree(cluster / f"node-{node_id}/data")
    (cluster / f"node-{node_id}/data").mkdir()


def unformatted(*node_ids: int) -> Finding:
    (finding,) = (each for each in severe(*node_ids) if each.code == "not-formatted")
    return finding


def test_voter_is_formatted_while_most_have_their_logs(cluster: Path) -> None:
    empty(cluster, 1)

    command = f"kafka-storage format -c node-1.properties -t {CLUSTER_ID}"
    assert unformatted().commands == (command,)
    assert not unformatted(1).commands
    assert "name the configurations of voter 3, too" in unformatted(1, 2, 101).cure


def test_voter_is_not_formatted_while_another_is_behind(cluster: Path) -> None:
    empty(cluster, 1)
    os.truncate(cluster / "node-3" / METADATA_LOG, 3000)

    assert not unformatted().commands
    assert "with voter 3 it could win an election" in unformatted().cure


def test_old_static_voters_are_not_formatted_beside_a_recovered_log(cluster: Path) -> None:
    """They would elect a leader of their own; so they would once they are formatted."""
    for node_id in (1, 2):
        empty(cluster, node_id)
    logs = [text for node_id in IDS[3:] for text in ("--from", f"node-{node_id}/data")]
    recover = "recover", "-c", "node-3.properties", *logs, "--voters", "self", "--yes"
    assert storage(cluster, *recover).code == 0

    advice = severe()
    for node_id in (1, 2):
        storage(cluster, "format", "-c", f"node-{node_id}.properties", "-t", CLUSTER_ID)

    assert [finding.code for finding in advice] == ["not-formatted"] * 2
    assert not any(finding.commands for finding in advice)
    assert "first set controller.quorum.bootstrap.servers instead of" in advice[0].cure
    assert [finding.code for finding in severe()] == ["rival-history"] * 2
    for node_id in (1, 2):
        empty(cluster, node_id)
        config = cluster / f"node-{node_id}.properties"
        config.write_text(
            config.read_text().replace("quorum.voters=1@", "quorum.bootstrap.servers=")
        )
        text = config.read_text().replace(",2@", ",").replace(",3@", ",")
        config.write_text(text)
    command = f"kafka-storage format -c node-1.properties -t {CLUSTER_ID} -N"
    assert severe()[0].commands == (command,)


def test_old_voter_gets_its_identity_back_only_when_all_voters_are_known(cluster: Path) -> None:
    """Two that get it back elect a leader beside a quorum that was recovered without them."""
    for node_id in (1, 2):
        (cluster / f"node-{node_id}/data/meta.properties").unlink()

    alone = unformatted(1)
    both = [finding for finding in severe() if finding.code == "not-formatted"]

    assert "name the configurations of voters 2 and 3, too, to be told what to write" in alone.cure
    assert [command.split()[:3] for command in alone.commands] == [
        ["kafka-cluster", "controllers", "-C"]
    ]
    assert [finding.commands[0].split()[0] for finding in both] == ["printf"] * 2


def test_quorum_whose_logs_are_whole_is_not_recovered(cluster: Path) -> None:
    """With their meta.properties, two voters would lead as well; then nobody is given up."""
    logs = [f"--from=node-{node_id}/data/__cluster_metadata-0" for node_id in (1, 2)]
    for node_id in (1, 2):
        (cluster / f"node-{node_id}/data/meta.properties").unlink()
    words = "recover", "-c", "node-3.properties", "--voters=self", "--unseen-broker=101,102,103"

    refused = storage(cluster, *words, *logs, "--offline", "--yes")
    forced = storage(cluster, *words, *logs, "--offline", "--dry-run", "--force")
    os.truncate(cluster / "node-1" / METADATA_LOG, 3000)
    lost = storage(cluster, *words, logs[0], "--offline", "--dry-run")

    assert refused.code == 3
    assert "the quorum is not lost: the logs of most voters are whole" in refused.err
    assert forced.code == lost.code == 0
    assert "the logs of 1, 2 are not known by a meta.properties" in forced.text
    assert '[ ! -e "$LOG_DIR"/meta.properties ] || grep' in forced.text


def test_recovery_that_verify_prints_is_not_refused(cluster: Path) -> None:
    """The logs of all voters are equal, and lack what a broker's has; records would be cut."""
    for node_id in (1, 2, 3):
        os.truncate(cluster / f"node-{node_id}" / METADATA_LOG, 3000)

    (command,) = {
        command
        for finding in severe()
        for command in finding.commands
        if finding.code == "rival-history"
    }

    done = storage(cluster, *shlex.split(command)[1:], "--offline")
    assert done.code == 2, done.err


def test_broker_is_not_formatted_while_it_may_lead_with_empty_partitions(cluster: Path) -> None:
    empty(cluster, 103)

    findings = severe()

    (advice,) = (finding for finding in findings if finding.code == "not-formatted")
    assert not advice.commands
    assert "the metadata has 13 partitions in sync here" in advice.cure
    assert "no other broker is in sync with mail-0" in advice.cure
    assert sum(finding.code == "missing-partition" for finding in findings) == 13
    assert "which partitions it should have is unknown" in unformatted(103).cure


def test_one_node_with_another_cluster_id_is_blamed_and_not_the_others(cluster: Path) -> None:
    empty(cluster, 1)
    storage(cluster, "format", "-c", "node-1.properties", "-t", "ID")

    (other,) = (finding for finding in severe() if finding.code == "other-cluster")

    assert other.place.file == "node-1.properties"
    assert f"--cluster-id {CLUSTER_ID}" in other.commands[0]


def test_node_id_taken_twice_is_corrected_and_nothing_is_rewritten(cluster: Path) -> None:
    config = cluster / "node-102.properties"
    config.write_text(config.read_text().replace("node.id=102", "node.id=103"))

    (finding,) = (each for each in severe() if each.code == "node-id-twice")

    assert finding.cure == "set node.id=102 in node-102.properties, as its directory has it"


def test_misspelt_key_of_a_refused_configuration_is_named(cluster: Path) -> None:
    config = cluster / "node-102.properties"
    config.write_text(config.read_text().replace("quorum.voters=", "quorum.voter="))

    _, (finding,) = load_configs([LocalKafka(str(config))], None)

    assert finding.cure.startswith("correct controller.quorum.voter to controller.quorum.voters; ")


def test_controller_with_the_id_of_no_voter_gets_that_of_its_directory(cluster: Path) -> None:
    config = cluster / "node-2.properties"
    config.write_text(config.read_text().replace("node.id=2", "node.id=4"))

    _, (finding,) = load_configs([LocalKafka(str(config))], None)

    assert finding.cure == "set node.id=2, as its directory has it"


def test_compare_counts_what_a_broker_formatted_anew_lacks(cluster: Path) -> None:
    empty(cluster, 103)
    storage(cluster, "format", "-c", "node-103.properties", "-t", CLUSTER_ID)

    done = storage(cluster, "compare", *(f"node-{node_id}/data" for node_id in IDS[3:]))

    assert done.code == 2
    assert "No records of the given copies would be cut" not in done.text
    assert "mail-0: it is missing" in done.text
