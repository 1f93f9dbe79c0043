"""Install the wheels into fresh environments, and run every subcommand in each of them.

Every run of all checks does the part that is quick: each Python that is here, once without an
extra, and the fast half of the tests on the newest. `--all` does the whole matrix, in half an hour
or more: the tests on each Python, each extra alone and all, installs from the source distribution
with and without cargo, by pipx and by uv, and odd environments.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
from command_tree import programs  # noqa: E402
from tests.helpers.tools.fake_cluster import serving  # noqa: E402
from tests.helpers.wire.certificates import (  # noqa: E402
    authority,
    server_context,
    signed_by,
    trusted_pkcs12,
)
from tests.helpers.wire.watched_clusters import WatchedCluster, watched  # noqa: E402

_DATA = ("dump-4.3.1/in/meta", "storage-4.3.1/in", "log-directories/4.3.1/stopped")
_META = "dump-4.3.1/in/meta"
_LOG = f"{_META}/00000000000000000000.log"
_NODE = "storage-4.3.1/in"
_NOBODY = 54321
"""A user and a group without an entry anywhere, as OpenShift gives to containers."""
_SECONDS = 900  # Spark on a machine that does much else
_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""What has Spark start with less work."""
_BROKERS = [  # that nobody reaches
    {"broker_id": 1, "host": "127.0.0.1", "port": 1, "rack": "zürich", "is_fenced": False},
    {"broker_id": 22, "host": "127.0.0.1", "port": 2, "rack": None, "is_fenced": True},
]
_LEADERS = (
    '{"version": 1, "partitions": [{"topic": "topic-0", "partition": 0, "replicas": [1, 2, 3]}]}'
)
_READ_ONLY = 'mount --make-rprivate / && mount -o remount,bind,ro / && exec "$@"'
_NEWEST = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A command line with the exit code, and a part of what it prints.

    `{out}` is an empty directory, `{peer}` a broker, `{secure}` one with TLS, `{quorum}` a
    controller, `{files}` a plan and client properties.
    """

    words: tuple[str, ...]
    said: str
    code: int = 0
    writes: bool = False
    """Whether it needs a disk that can be written to, for a temporary file at least."""


def case_of(line: str, said: str, code: int = 0, *, writes: bool = False) -> Case:
    """Return the case of a command line."""
    return Case(tuple(line.split()), said, code, writes)


_REFUSED = "connection refused"
_NO_CONFIGS = "does not serve DescribeConfigs"  # the broker of these cases
_BOTH = "-b {peer} -C {quorum}"
_SOON = "--dry-run --timeout 5"
"""Of brokers that nobody reaches, which is tried for a minute without it."""
FORMAT = "kafka-storage format -c {out}/new.properties -t 9rdMxgYUQnaW9WyPLLCbPQ --standalone"
CASES = (
    case_of("kraftops --version", "kraftops "),
    case_of("kraftops --help", "coordinator-partition"),
    case_of(f"kafka-dump-log --cluster-metadata-decoder --files {_LOG}", "LeaderChange: {"),
    case_of(f"kraftops dump-log --format json {_META}", '"type":"TOPIC_RECORD"'),
    case_of(f"kraftops dump-log --format csv {_LOG}", "file,position,baseOffset"),
    case_of(f"kraftops dump-log --summary --format json {_LOG}", '"keyless": 493'),
    case_of("kraftops dump-log --check --jobs 2 log-directories/4.3.1/stopped", "clean"),
    case_of(f"kraftops dump-log --output {{out}}/log.json --format json {_LOG}", "", writes=True),
    case_of(f"kafka-metadata-shell -s {_META} ls /image", "topics"),
    case_of(f"kraftops metadata-shell -s {_META} find /image/topics -name a.many", "a.many"),
    case_of(f"kraftops report --format json {_META}", '"command": "report"'),
    case_of(f"kraftops report --output {{out}}/report.html {_META}", "", writes=True),
    case_of(f"kraftops changes {_META} --kind topic", "topic a.many"),
    case_of(f"kraftops incidents --format json {_META}", '"command": "incidents"'),
    case_of("kraftops coordinator-partition --group g", "__consumer_offsets-3"),
    case_of("kraftops doctor log-directories/4.3.1/stopped", "one node is named"),
    case_of("kraftops explain no-log", "no-log"),
    case_of("kraftops help", "What is wrong:"),
    case_of("kraftops completions install --shell fish", "kafka-storage.fish", writes=True),
    case_of("kraftops disk log-directories/4.3.1/stopped", "plain"),
    case_of("kafka-storage info -c c/i-ok.properties", "Found log directory"),
    case_of(f"{FORMAT} --dry-run", "Would format", writes=True),
    case_of(FORMAT, "Formatting dynamic metadata voter directory", writes=True),
    case_of("kafka-storage version-mapping --release-version 4.3", "metadata.version"),
    case_of(
        "kafka-storage feature-dependencies --feature transaction.version=2", "transaction.version"
    ),
    case_of("kafka-storage random-uuid", ""),
    case_of("kafka-storage rewrite -c c/i-ok.properties --node-id 7 --dry-run", "7"),
    case_of("kafka-storage verify -c c/i-mismatch-cluster.properties", "its cluster id is xyz", 2),
    case_of(
        "kafka-storage recover -c c/i-ok.properties --voters self --dry-run", "none of the logs", 3
    ),
    case_of(
        "kafka-storage recover-plan --from d1 --voters 1@c1:9093 --output {out}/plan",
        "d1 does not exist",
        4,
    ),
    case_of(
        "kafka-storage compare ../../log-directories/4.3.1/stopped",
        "No records of the given copies would be cut.",
    ),
    case_of("kraftops storage random-uuid", ""),
    case_of("kafka-cluster cluster-id -b {peer}", "Cluster ID: "),
    case_of(
        "kafka-cluster cluster-id -b {secure} --command-config {files}/client.properties",
        "Cluster ID: ",
    ),
    case_of("kafka-cluster id -b {peer}", ""),
    case_of("kafka-cluster list-endpoints -b {peer}", "zürich"),
    case_of("kafka-cluster api-versions -C {quorum}", "FetchSnapshot"),
    case_of("kafka-cluster unregister -b {peer} --id 22 --if-registered --force", "22"),
    case_of("kafka-cluster describe -C {quorum}", "broker-3.example", writes=True),
    case_of("kafka-cluster describe -b 127.0.0.1:1", _REFUSED, 5),
    case_of(
        "kafka-cluster wait -C {quorum} --for no-under-replicated",
        "no-under-replicated: true",
        writes=True,
    ),
    case_of("kafka-cluster safe-to-stop -C {quorum} --id 1", "1: safe to stop", writes=True),
    case_of(
        f"kafka-cluster drain {_BOTH} --id 1 --save {{out}}/leaders",
        "--yes agrees to it",
        3,
        writes=True,
    ),
    case_of(
        f"kafka-cluster undrain {_BOTH} --plan {{files}}/leaders.json",
        "--yes agrees to it",
        3,
        writes=True,
    ),
    case_of(f"kafka-cluster decommission status {_BOTH} --id 1", _NO_CONFIGS, 1, writes=True),
    case_of(f"kafka-cluster rebalance {_BOTH} {_SOON}", _REFUSED, 5, writes=True),
    case_of("kafka-cluster controllers -C {quorum}", "3003  voter", writes=True),
    case_of("kafka-cluster problems -C {quorum}", "under-replicated: 0", writes=True),
    case_of(f"kafka-cluster operations {_BOTH}", _NO_CONFIGS, 1, writes=True),
    case_of(f"kafka-cluster restart {_BOTH} --hook true --dry-run", _NO_CONFIGS, 1, writes=True),
    case_of(f"kafka-cluster repair {_BOTH} --id 9 {_SOON}", _REFUSED, 5, writes=True),
    case_of(
        f"kafka-cluster replication {_BOTH} --topic topic-0 --factor 2 {_SOON}",
        _REFUSED,
        5,
        writes=True,
    ),
    case_of(
        f"kafka-cluster move-dirs {_BOTH} --id 1 --from /a --to /b {_SOON}",
        _REFUSED,
        5,
        writes=True,
    ),
    case_of("kafka-dump-log --cluster-metadata-decoder -C {quorum}", '"name":"topic-0"'),
    case_of("kafka-metadata-shell -C {quorum} ls /image/topics/byName", "topic-0", writes=True),
    case_of("kraftops cluster cluster-id -b {peer}", "Cluster ID: "),
)
FAST = ("tests/core", "tests/shell", "tests/terminal")
"""Folders of tests that need no Java; each test takes parts of a second, with many parameters."""
_NOT_FAST = "fuzz or kafka or slow or spark"
FEW = tuple(
    one for one in CASES if one.words[1] in {"--version", "dump-log", "info", "list-endpoints"}
)
"""Cases that each part of the code takes part in."""
OF_EXTRAS = {  # what each is for, and what is said without it
    "arrow": (
        case_of(
            f"kafka-dump-log --format parquet --output {{out}}/x --files {_LOG}", "", writes=True
        ),
        "[arrow]'",
    ),
    "spark": (
        case_of(
            f"kafka-dump-log --spark --master local[1] --summary --format json --files {_LOG}",
            '"keyless": 493',
            writes=True,
        ),
        "[spark]'",
    ),
    "spark-connect": (
        case_of(
            f"kafka-dump-log --spark --master sc://{{peer}} --shared-paths --summary {_META}",
            "cannot connect to sc://",
            1,
        ),
        "[spark-connect]'",
    ),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings of a process: flags of Python, environment, user, and what runs it."""

    name: str = "as usual"
    root: Path | None = None
    """The root of a system without Python; programs have their own interpreter there."""
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    umask: int = 0o022
    user: int | None = None
    prefix: tuple[str, ...] = ()

    def command(self, bin_: Path, words: Sequence[str], folder: Path) -> list[str]:
        """Return the command line that runs *words* in a folder."""
        program = str(bin_ / words[0])
        if self.root is None:
            return [*self.prefix, str(bin_ / "python"), *self.flags, program, *words[1:]]
        user = [] if self.user is None else [f"--userspec={self.user}:{self.user}"]
        return ["chroot", *user, str(self.root), "env", "-C", str(folder), program, *words[1:]]

    def refusal(self, program: Path) -> str:
        """Return why they cannot be had here; "" if they can."""
        if (self.user is not None or self.prefix) and os.geteuid() != 0:
            return "only root can have them"
        try:
            subprocess.run(
                [*self.prefix, str(program), "-c", ""],
                check=True,
                capture_output=True,
                user=self.user,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            return str(getattr(error, "stderr", b"") or error)[:200]
        return ""


_CONTAINER = ("unshare", "--mount", "sh", "-c", _READ_ONLY, "sh")
USUAL = Surroundings()
SURROUNDINGS = (
    Surroundings("python -O", environment={"PYTHONOPTIMIZE": "1"}),
    Surroundings("python -OO", environment={"PYTHONOPTIMIZE": "2"}),
    Surroundings("python -I", flags=("-I",)),
    Surroundings("python -W error", flags=("-W", "error")),
    Surroundings("no byte code", environment={"PYTHONDONTWRITEBYTECODE": "1"}),
    Surroundings("LANG=C", environment={"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}),
    Surroundings("POSIX, no coercion", environment={"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}),
    Surroundings("umask 077", umask=0o077),
    Surroundings("unknown user, no HOME", user=_NOBODY),
    Surroundings("read-only root", prefix=_CONTAINER),
    Surroundings("TERM=dumb, NO_COLOR", environment={"TERM": "dumb", "NO_COLOR": "1"}),
)


@dataclass(frozen=True, slots=True)
class Place:
    """What cases work on: a copy of our test data, a broker, and client properties."""

    data: Path
    files: Path
    peer: str
    secure: str
    quorum: str
    scratch: Path


@contextmanager
def place() -> Iterator[Place]:
    """Make the data of cases, and run a broker for them."""
    ca = authority()
    with (
        TemporaryDirectory(prefix="installs-") as scratch,
        serving(list(_BROKERS)) as peer,
        serving(
            list(_BROKERS), context=server_context(Path(scratch), ca, signed_by(ca, "broker"))
        ) as secure,
        watched(cluster := WatchedCluster(4, 6)) as controllers,
    ):
        top = Path(scratch)
        top.chmod(0o755)
        for name in _DATA:
            shutil.copytree(REPOSITORY / "tests/data" / name, top / "data" / name)
        files = top / "files"
        files.mkdir()
        (files / "trust.p12").write_bytes(trusted_pkcs12("secret", ca))
        (files / "client.properties").write_text(
            f"security.protocol=SSL\nssl.truststore.location={files}/trust.p12\n"
            "ssl.truststore.password=secret\nssl.truststore.type=PKCS12\n"
        )
        (files / "leaders.json").write_text(_LEADERS)
        leader = controllers.address(cluster.log.leader)
        yield Place(
            data=top / "data",
            files=files,
            peer=str(peer.address),
            secure=str(secure.address),
            quorum=str(leader),
            scratch=top,
        )


@contextmanager
def output_directory(given: Place, around: Surroundings) -> Iterator[Path]:
    """Make `{out}`, with the configuration of a node that is not formatted."""
    with TemporaryDirectory(dir=given.scratch) as out:
        if around.user is not None:
            os.chown(out, around.user, around.user)
        (Path(out) / "new.properties").write_text(
            (given.data / _NODE / "c/comb.properties").read_text().replace("=d1", f"={out}/d1")
        )
        yield Path(out)


def run(bin_: Path, case: Case, given: Place, around: Surroundings = USUAL) -> str:
    """Run a case with the programs of an environment; return what is wrong with it, or ""."""
    with output_directory(given, around) as out:
        return run_in(out, bin_, case, given, around)


def run_in(out: Path, bin_: Path, case: Case, given: Place, around: Surroundings) -> str:
    """Run a case in an output directory that others may have used; return as `run`."""
    values = {
        "{out}": str(out),
        "{files}": str(given.files),
        "{peer}": given.peer,
        "{secure}": given.secure,
        "{quorum}": given.quorum,
    }
    words = [_filled(word, values) for word in case.words]
    environment = {"PATH": f"{bin_}:/usr/bin:/bin:/usr/sbin", **_JAVA, **around.environment}
    environment["XDG_CONFIG_HOME"] = str(out)  # completions are installed there, also without HOME
    if around.user is None:
        environment |= {"HOME": str(out), "TMPDIR": str(out)}
    folder = given.data / (_NODE if words[0] == "kafka-storage" else "")
    user = None if around.root else around.user  # chroot sets it
    try:
        done = subprocess.run(
            around.command(bin_, words, folder),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            umask=around.umask,
        )
    except subprocess.TimeoutExpired:
        return f"{' '.join(words)}: does not end within {_SECONDS} s"
    told = done.stdout + done.stderr
    if around.prefix and case.writes:  # it cannot, and says so
        is_as_expected = done.returncode == 1 and ("ead-only" in told or "TMPDIR" in told)
    else:
        is_as_expected = done.returncode == case.code and case.said in told
    if is_as_expected and "Traceback" not in told and "Warning" not in done.stderr:
        return ""
    return f"{' '.join(words)}: exit {done.returncode}, not {case.code}: {told[-600:]!r}"


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def uncovered() -> list[str]:
    """Return the commands that have no case."""
    begins = {case.words[:count] for case in CASES for count in (1, 2)}
    leaves = [
        tool.words
        for program in programs()
        for tool in program.walk()
        if not tool.subtools and (program.words != ("kraftops",) or len(tool.words) == 2)
    ]
    return [" ".join(words) for words in leaves if words not in begins]


def pythons() -> dict[str, str]:
    """Return the CPythons of this machine that can have kraftops, by version."""
    names = [shutil.which(f"python3.{minor}") for minor in range(11, _NEWEST)]
    kept = (str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")))
    test = (
        "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.abiflags)"
    )
    found: dict[str, str] = {}
    for program in [sys.executable, *filter(None, names), *kept]:
        done = subprocess.run([program, "-c", test], capture_output=True, text=True, check=False)
        implementation, version, *flags = done.stdout.split() or ["", "3.0"]
        if implementation == "cpython" and not flags and int(version.partition(".")[2]) >= 11:
            found.setdefault(version, program)
    return dict(sorted(found.items()))


def supported() -> set[str]:
    """Return the versions of Python that the metadata name."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    return {one.rpartition(" ")[2] for one in project["classifiers"] if ":: Python :: 3." in one}


def environment(directory: Path, python: str, *wanted: str, path: str | None = None) -> Path:
    """Make a fresh environment with requirements; return the directory of its programs."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(directory)], check=True)
    bin_ = directory / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(bin_ / "python")]
    command = [*pip, "install", "-q", "--no-compile"]  # most of it is never imported
    around = os.environ | ({"PATH": path} if path else {})
    around.pop("PYTHONPATH", None)
    subprocess.run([*command, *wanted], check=True, env=around)
    return bin_


def built(out: Path, tree: Path, *targets: str, **settings: str) -> list[Path]:
    """Build a wheel or a source distribution; return what was made."""
    before = set(out.glob("*"))
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    for target in targets:
        command += ["-t", target]
    subprocess.run(
        command, cwd=tree, env=os.environ | settings, check=True, stdout=subprocess.DEVNULL
    )
    return sorted(set(out.glob("*")) - before)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: an install, its surroundings, and what was wrong."""

    install: str
    around: str
    cases: int
    wrong: list[str]
    skipped: str = ""


def check(
    name: str, bin_: Path, given: Place, extras: Iterable[str], cases: Sequence[Case] = CASES
) -> Row:
    """Run cases in an environment, and those of extras, which it has or has not."""
    has, checked = set(extras), list(cases)
    if has & {"spark", "spark-connect"}:
        has.add("arrow")
    for extra, (case, without) in OF_EXTRAS.items():
        if extra in has:
            checked.append(case)
        elif extra != "spark" or "spark-connect" not in has:  # Java may be there or not
            checked.append(replace(case, said=without, code=1))
    wrong = [text for case in checked if (text := run(bin_, case, given))]
    return Row(name, USUAL.name, len(checked), wrong)


def check_around(name: str, bin_: Path, given: Place, around: Surroundings) -> Row:
    """Run cases in other surroundings."""
    if why := around.refusal(bin_ / "python"):
        return Row(name, around.name, 0, [], skipped=why)
    wrong = [text for case in CASES if (text := run(bin_, case, given, around))]
    return Row(name, around.name, len(CASES), wrong)


def check_tests(version: str, bin_: Path) -> Row:
    """Run each test of the fast half once in an environment, on what is installed there."""
    command = [str(bin_ / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, "--each-once", "-m", f"not ({_NOT_FAST})", *FAST],
        cwd=REPOSITORY,
        env=around,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    passed = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    wrong = [] if done.returncode == 0 and passed else [(done.stderr + done.stdout)[-4000:]]
    count = int(passed[1]) if passed else 0
    return Row(version, "fast half of the tests", count, wrong)


def for_tests(version: str, wheel: Path, directory: Path) -> list[str]:
    """Return what pip installs for the fast half of the tests, in versions of the lock."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    lock = (REPOSITORY / "requirements.lock").read_text("utf-8")
    pins = directory / "pins"
    is_locked = f"# Python {version}, {platform.system()} {platform.machine()}\n" in lock
    found = re.findall(r"^(\w[^\\\n]*?)(?: \\)?$", lock, re.MULTILINE) if is_locked else []
    pins.write_text("\n".join(found))
    return ["-c", str(pins), f"{wheel}[arrow]", *project["dependency-groups"]["test"]]


def without_cargo(scratch: Path) -> str:
    """Return a PATH with all programs of ours but cargo."""
    there = scratch / "no-cargo"
    there.mkdir()
    for name in ("cc", "gcc", "git", "ld", "sh"):
        if found := shutil.which(name):
            (there / name).symlink_to(found)
    return str(there)


Work = Callable[[Path], Row]
"""What makes a row of the table: it has an empty directory for its environment."""


def quick(given: Place, scratch: Path) -> Iterator[Work]:
    """Yield what every run of all checks does."""
    (wheel,) = built(scratch / "dist", REPOSITORY, "wheel")
    programs = pythons()
    yield from tests_on([*programs.items()][-1:], wheel)  # the longest, beside all others
    for version, python in programs.items():
        yield lambda directory, version=version, python=python: check(  # type: ignore[misc]
            f"{version}, no extra, {_kind(wheel)}",
            environment(directory, python, str(wheel)),
            given,
            (),
            CASES if python == sys.executable else FEW,
        )


def tests_on(programs: Iterable[tuple[str, str]], wheel: Path) -> Iterator[Work]:
    """Yield the tests on some Pythons; on the one that runs this, all tests run anyway."""
    for version, python in programs:
        if python != sys.executable:
            yield lambda directory, version=version, python=python: check_tests(  # type: ignore[misc]
                version, environment(directory, python, *for_tests(version, wheel, directory))
            )


def whole(given: Place, scratch: Path) -> Iterator[Work]:
    """Yield the whole matrix."""
    dist = scratch / "dist"
    (sdist,) = built(dist, REPOSITORY, "sdist")
    (native,) = built(dist, REPOSITORY, "wheel")
    (pure,) = built(dist, REPOSITORY, "wheel", KRAFTOPS_NATIVE="0")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = sorted(project["optional-dependencies"].keys() & OF_EXTRAS.keys())
    found = pythons()
    sets = [(), *((one,) for one in extras), tuple(extras)]
    newest = list(found.values())[-1]
    base = next(
        (one for one in ("/usr/bin/python3", newest) if _version(one) in found), newest
    )  # others than root may read it
    bin_ = environment(scratch / "around", base, str(native))
    for around in SURROUNDINGS:
        yield lambda _, around=around: check_around(_version(base), bin_, given, around)  # type: ignore[misc]
    for tool in ("pipx", "uv"):
        yield lambda directory, tool=tool: check(  # type: ignore[misc]
            f"{tool}, no extra", by_tool(tool, directory, newest, native), given, ()
        )
    for version, python in found.items():
        for wheel in (native, pure):
            for chosen in sets if wheel is native else sets[:1]:
                yield lambda directory, v=version, p=python, w=wheel, c=chosen: check(  # type: ignore[misc]
                    f"{v}, {'+'.join(c) or 'no extra'}, {_kind(w)}",
                    environment(directory, p, f"{w}[{','.join(c)}]" if c else str(w)),
                    given,
                    c,
                )
    yield from tests_on(found.items(), native)
    for name, path in (("with cargo", None), ("without cargo", without_cargo(scratch))):
        yield lambda directory, name=name, path=path: check(  # type: ignore[misc]
            f"sdist {name}", environment(directory, newest, str(sdist), path=path), given, ()
        )


def by_tool(tool: str, directory: Path, python: str, wheel: Path) -> Path:
    """Install by pipx or by `uv tool`; return the directory of the programs."""
    tools = environment(directory / "itself", sys.executable, tool)
    home = directory / "home"
    settings = {
        "PIPX_HOME": str(home),
        "PIPX_BIN_DIR": str(home / "bin"),
        "UV_TOOL_DIR": str(home),
        "UV_TOOL_BIN_DIR": str(home / "bin"),
    }
    command = ["install", "--python", python, str(wheel)]
    subprocess.run(
        [str(tools / tool), *(["tool"] if tool == "uv" else []), *command],
        env=os.environ | settings,
        check=True,
        capture_output=True,
    )
    inner = home / "venvs" / "kraftops" if tool == "pipx" else home / "kraftops"
    assert (home / "bin" / "kafka-dump-log").exists()
    return inner / "bin"


def _version(python: str) -> str:
    test = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", test], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _kind(wheel: Path) -> str:
    return "pure" if wheel.name.endswith("-any.whl") else "native"


def main() -> int:
    """Print a table; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--all", action="store_true", help="the whole matrix, half an hour or more")
    given = parser.parse_args()
    if missing := uncovered():
        print(f"no case for: {', '.join(missing)}")
        return 1
    there = pythons()
    for version in sorted(supported() - there.keys()):
        print(f"{version:34} {'':24} not on this machine: nothing of it is checked")
    failed = 0
    with place() as where, ThreadPoolExecutor(2) as pool:
        scratch = where.scratch
        (scratch / "dist").mkdir()
        todo = (whole if given.all else quick)(where, scratch)
        for row, seconds in pool.map(lambda work: _outcome(work, scratch), todo):
            state = f"skipped: {row.skipped}" if row.skipped else f"{len(row.wrong)} wrong"
            count = f"{row.cases:3} cases, {state}, {seconds:.0f} s"
            print(f"{row.install:34} {row.around:24} {count}", flush=True)
            for text in row.wrong:
                print(f"    {text}")
            failed += bool(row.wrong)
    return 1 if failed else 0


def _outcome(work: Work, scratch: Path) -> tuple[Row, float]:
    """Return a row, and the seconds that it took with its install; with Spark this is 1 GB."""
    begin = time.monotonic()
    with TemporaryDirectory(dir=scratch) as directory:
        try:
            row = work(Path(directory))
        except subprocess.CalledProcessError as error:
            said = (error.stderr or b"").decode("utf-8", "replace")[-600:]
            name = " ".join(map(str, error.cmd))[-60:]
            row = Row(name, "", 0, [f"exit {error.returncode}: {said}"])
    return row, time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
