"""Faults at each call of a commit: a reader sees the earlier output, the new one, or a gap."""

import json
import os
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.fileio.output import OutputFlags
from kraftops.log import remote
from kraftops.spark.dump import targets
from kraftops.spark.dump.targets import SUCCESS, abandon, commit, prepared_target
from tests.helpers.spark.faults import KINDS, Faults, FaultyStore, Killed, fail_system_calls

REPLACING = OutputFlags(overwrite=True)
OLD = {f"type=A/part-0000{number}.txt": b"old %d" % number for number in range(4)}
NEW = {f"type=A/part-0000{number}.txt": b"new %d" % number for number in range(3)}
OLD_FILES, NEW_FILES = ({Path(name).name: data for name, data in one.items()} for one in (OLD, NEW))
View = dict[str, bytes]


def dumped(path: str, parts: View) -> None:
    """Write parts, each at two attempts, and commit the second ones, as a dump does."""
    target = prepared_target(path, REPLACING)
    try:
        names = []
        for name, data in parts.items():
            for attempt in (1, 2):
                written = target.attempt_name(name.removesuffix(".txt"), ".txt", attempt)
                with target.writing(written) as file:
                    file.write(data if attempt == 2 else b"half")
            names.append((written, name))
        commit(target, names, "text")
    except BaseException:
        abandon(target)
        raise


def outcome(path: str, parts: View) -> str:
    """Dump; return the message of the error, `done` or `killed`."""
    try:
        dumped(path, parts)
    except Killed:
        return "killed"
    except KraftopsError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return "done"


def seen(folder: Path) -> View | None:
    """Return what a reader finds below a directory: nothing that is hidden; None without one."""
    if not folder.exists():
        return None
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def faulty_calls() -> Iterator[tuple[int, str]]:
    """Yield numbers of calls; whoever has met no fault any more ends it."""
    for at in count(1):
        for kind in KINDS:
            yield at, kind


def ended(at: int, kind: str, faults: Faults) -> bool:
    """Tell whether a run has had no fault, because it makes fewer calls."""
    return kind == KINDS[0] and faults.calls < at


@pytest.mark.parametrize("is_there", [False, True])
def test_local_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # it takes long, where the disk is busy
    outcomes = set()
    for at, kind in faulty_calls():
        folder = tmp_path / f"{at}-{kind}"
        folder.mkdir()
        out = folder / "out"
        before = OLD_FILES if is_there else None
        if is_there:
            dumped(str(out), OLD_FILES)

        def look(out: Path = out, before: View | None = before) -> None:
            assert seen(out) in (before, NEW_FILES, None)

        faults = Faults(at, kind, look)
        with pytest.MonkeyPatch.context() as patch:
            fail_system_calls(patch, faults)
            text = outcome(str(out), NEW_FILES)

        found = seen(out)
        outcomes.add((text == "killed", found == before, found == NEW_FILES))
        if text == "killed":
            assert found in (before, NEW_FILES, None)
        elif text == "done" or "is written, but" in text:
            assert found == NEW_FILES
        elif "the earlier output is now " in text:
            place = Path(text.rpartition("the earlier output is now ")[2])
            assert (found, seen(place)) == (None, OLD_FILES)
        else:
            assert found == before, text
        if kind == "refused":
            left = [name for name in os.listdir(folder) if name != "out" and name not in text]
            assert left == []
        if ended(at, kind, faults):
            assert text == "done"
            break
    assert {(False, True, False), (False, False, True), (True, True, False)} <= outcomes
    assert at > 20


_STATES = {
    "; the earlier output is deleted": {"gap"},
    "; the earlier output may be deleted, or a part of it": {"old", "parts", "gap"},
    "; parts of the new one are there, perhaps all: --overwrite replaces them": {
        *("parts", "gap", "new")
    },
}
"""Ends of messages, and what a reader may find then."""


def possible(text: str, before: str) -> set[str]:
    """Return what a reader may find after an outcome."""
    if text == "killed":
        return {before, "parts", "gap", "new"}
    if text == "done":
        return {"new"}
    return next((found for end, found in _STATES.items() if text.endswith(end)), {before})


def state(out: Path, before: View) -> str:
    """Return what a reader sees of an output; all that is not whole is a mistake."""
    found = seen(out) or {}
    success = found.pop(SUCCESS, None)
    if success is not None:
        assert found in (before, NEW)
        assert json.loads(success)["parts"] == [*found]
        return "old" if found == before else "new"
    assert found.items() <= before.items() or found.items() <= NEW.items()
    return "parts" if found else "gap"


@pytest.mark.parametrize("is_there", [False, True])
def test_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool) -> None:
    monkeypatch.setattr(targets, "_COPIES", 1)
    ends = set()
    for at, kind in faulty_calls():
        bucket = tmp_path / f"{at}-{kind}"
        look = partial(state, bucket / "lake/out", OLD if is_there else {})
        use(monkeypatch, Faults(0, "none", look), bucket)
        if is_there:
            dumped("s3://lake/out", OLD)
        faults = Faults(at, kind, look)
        use(monkeypatch, faults, bucket)
        text = outcome("s3://lake/out", NEW)

        ends.add(text.partition("; ")[2])
        assert look() in possible(text, "old" if is_there else "gap"), text
        if ended(at, kind, faults):
            assert text == "done"
            break
    assert at > 20
    assert len(ends) == (4 if is_there else 2)


def use(patch: pytest.MonkeyPatch, faults: Faults, bucket: Path) -> None:
    """Have buckets in a directory, behind faulty requests."""
    store = FaultyStore(faults)

    def filesystem(uri: str) -> tuple[FaultyStore, str]:
        return store, f"{bucket}/{uri.removeprefix('s3://').rstrip('/')}"

    for module in (targets, remote):
        patch.setattr(module, "filesystem", filesystem)


NO_FAULTS = Faults(0, "none", lambda: None)


def test_part_that_is_gone_leaves_the_earlier_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a rule of the bucket deletes what is old."""
    use(monkeypatch, NO_FAULTS, tmp_path)
    dumped("s3://lake/out", OLD)
    target = prepared_target("s3://lake/out", REPLACING)

    with pytest.raises(KraftopsError, match=r"part-1\.txt is gone$"):
        commit(target, [("part-1.txt", "part-00001.txt")], "text")

    assert [*(seen(tmp_path / "lake/out") or {})] == [SUCCESS, *OLD]


def test_copy_that_fails_in_the_middle_leaves_no_half_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too large for the store's own copy passes through this process."""
    monkeypatch.setattr(targets, "_MOST_COPIED", {"s3": 1})
    monkeypatch.setattr(targets.shutil, "copyfileobj", _fail)
    use(monkeypatch, NO_FAULTS, tmp_path)

    assert outcome("s3://lake/out", NEW) == "cannot write s3://lake/out: in the middle"
    assert not seen(tmp_path / "lake/out")


def _fail(source: object, out: object, block: int) -> None:
    out.write(b"half")  # type: ignore[attr-defined]
    raise OSError("in the middle")
