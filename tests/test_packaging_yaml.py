"""Files of YAML in packaging: manifests parsed, their commands run; the workflow of other platforms."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging/kubernetes"
MANIFESTS = sorted(FOLDER.glob("*.yaml"))
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
CONFIG = """\
process.roles=broker
node.id=1
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=localhost:9093
log.dirs={directory}
"""


def pod_of(name: str) -> dict[str, Any]:
    """Return the specification of the Pod in a manifest."""
    manifest = yaml.safe_load((FOLDER / name).read_text())
    spec: dict[str, Any] = manifest["spec"]
    return spec["template"]["spec"] if manifest["kind"] == "Job" else spec


def ours(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the containers that run kraftops."""
    for container in (*pod.get("initContainers", []), *pod["containers"]):
        if "/kraftops:" in container["image"]:
            yield container


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_our_containers_need_no_rights(path: Path) -> None:
    pod = pod_of(path.name)
    volumes = {volume["name"] for volume in pod["volumes"]}
    version = (ROOT / "cli/kraftops_cli/version.py").read_text()

    assert pod["securityContext"]["runAsNonRoot"]
    for container in ours(pod):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert f'VERSION = "{container["image"].rpartition(":")[2]}"' in version


def test_the_job_can_change_nothing_of_the_volume() -> None:
    pod = pod_of("debug.yaml")
    (container,) = ours(pod)

    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert mounts["data"]["readOnly"]
    assert pod["volumes"][0]["persistentVolumeClaim"]["readOnly"]


def run(command: list[str], places: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command of a container, with the places of this test."""
    words = []
    for word in command:
        for name, text in places.items():
            word = word.replace(name, text)  # noqa: PLW2901 - one after another
        words.append(word)
    words[0] = str(Path(sys.executable).with_name(words[0]))
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_commands_format_verify_and_examine(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text(CONFIG.format(directory=tmp_path / "kafka/data"))
    places = {
        "/etc/kafka": str(tmp_path),
        "/var/lib/kafka": str(tmp_path / "kafka"),
        "$(CLUSTER_ID)": CLUSTER_ID,
    }
    format_, verify = ours(pod_of("format.yaml"))
    (doctor,) = ours(pod_of("debug.yaml"))

    first, second = (run(format_["command"], places) for _ in range(2))
    others = {**places, "$(CLUSTER_ID)": "MkU3OEVBNTcwNTJENDM2QQ"}

    assert [json.loads(done.stdout)["changed"] for done in (first, second)] == [True, False]
    assert run(format_["command"], others).returncode != 0
    assert run(verify["command"], places).returncode == 0
    assert run(doctor["command"], places).returncode in (0, 2)


def test_workflow_of_other_platforms_is_whole() -> None:
    """It cannot be run here: its keys, and the shell of its steps, are looked at."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/platforms.yml").read_text())
    job = workflow["jobs"]["wheel"]

    names = {row["name"] for row in job["strategy"]["matrix"]["include"]}
    assert names == {"linux-aarch64", "musl-x86_64", "macos-aarch64", "macos-x86_64"}
    assert {frozenset(row) for row in job["strategy"]["matrix"]["include"]} == {
        frozenset({"name", "runner", "container", "target"})
    }
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        if step.get("shell") == "bash":
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
