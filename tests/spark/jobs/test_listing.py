"""Requests that planning makes in an object store: one listing tells names and sizes of all keys.

KRAFTOPS_STORE_KEYS=100000 plans as many; it takes 20 seconds.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraftops.log.remote import filesystem
from kraftops.spark.session.session import Session
from tests.helpers.logs.segments import IN
from tests.helpers.spark.counting_store import CountingStore, counting_store
from tests.helpers.tools.console import run_here

LOG = IN / "user/none/00000000000000000000.log"
KEYS = int(os.environ.get("KRAFTOPS_STORE_KEYS", "1000"))
_PLANNED = """
import json, re, sys, time
from kraftops.dump.sources.names import expand
from kraftops.spark.jobs.planning import plan_splits
start = time.monotonic()
sources = expand([sys.argv[1]])
splits = plan_splits(sources, 8)
print(json.dumps({
    "ranges": sum(len(split.ranges) for split in splits),
    "splits": len(splits),
    "bytes": sum(split.size for split in splits),
    "seconds": time.monotonic() - start,
    "peak": int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10,
}))
"""

pytest.importorskip("pyarrow")


def environment(store: CountingStore) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": store.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def test_listing_is_the_only_request_of_a_plan() -> None:
    """Small files share splits, and none of them is asked for its size."""
    keys = [f"cluster/t-{number}/{LOG.name}" for number in range(KEYS)]
    content = LOG.read_bytes()
    with counting_store(dict.fromkeys(keys, content)) as store:
        done = subprocess.run(
            [sys.executable, "-c", _PLANNED, "s3://planned/cluster"],
            capture_output=True,
            text=True,
            env={**os.environ, **environment(store)},
            check=False,
        )

    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert found["ranges"] == KEYS
    assert found["bytes"] >= KEYS * len(content)
    assert found["splits"] <= KEYS / 200 + 1
    assert len(store.requests) == -(-KEYS // 1000)
    assert (found["seconds"] < 60, found["peak"] < 500 << 20) == (True, True), found


@pytest.mark.parametrize("name", [LOG.name, f"t-0/{LOG.name}", "t-0", "t-*/*.log"])
def test_file_is_opened_and_fetched_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most one request finds the file, before one opens it and one has its bytes."""
    with counting_store(dict.fromkeys([LOG.name, f"t-0/{LOG.name}"], LOG.read_bytes())) as store:
        for variable, value in environment(store).items():
            monkeypatch.setenv(variable, value)

        done = run_here(f"s3://opened-{store.url[-5:]}/{name}")

    assert (done.code, done.err) == (0, "")
    assert len(done.text.splitlines()) > 2
    assert [request.split()[0] for request in store.requests[1:]] == ["HEAD", "GET"]


def test_jobs_begin_before_the_listing_ends(
    session: Session, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The eleventh page waits for a part of the output, which has all logs in their order."""
    keys = [f"waves/t{number}-0/{LOG.name}" for number in range(12)]
    system, root = filesystem(store)
    for key in keys:
        with system.open_output_stream(f"{root}/{key}") as stream:
            stream.write(LOG.read_bytes())
    uri = f"{store}/waves"
    local = run_here(uri)
    output = tmp_path / "out"
    begun: list[bool] = []

    def wait_for_part(number: int) -> None:
        if number == 10:
            latest = time.monotonic() + 250
            while not [*tmp_path.rglob("part-*")] and time.monotonic() < latest:
                time.sleep(0.05)
            begun.append(bool([*tmp_path.rglob("part-*")]))

    with counting_store(dict.fromkeys(keys, LOG.read_bytes()), 1, wait_for_part) as listed:
        monkeypatch.setenv("AWS_ENDPOINT_URL", listed.url)
        done = run_here("--spark", uri, "--output", str(output))

    names = [path.name for path in sorted(output.iterdir())]
    assert begun
    assert all(begun)
    assert (done.code, len(set(listed.requests))) == (0, 12)  # one may be asked for again
    assert names == ["part-00000.txt", "part-00001.txt"]
    assert b"".join((output / name).read_bytes() for name in names) == local.out
