"""Plain logs are printed many at a time, and their text is that of each by itself."""

from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import text_chunks
from kraftops.dump.scan.plain_texts import plain_texts
from kraftops.engine.choice import why_not_native
from kraftops.query.query import Query
from tests.helpers.logs.plain_logs import OTHERS, PLAIN, write
from tests.helpers.logs.segments import segments

pytestmark = pytest.mark.skipif(why_not_native() is not None, reason="there is one engine")

QUERIES = [
    Query(),
    Query(deep_iteration=True),
    Query(decoder="user"),
    Query(decoder="user", check=True),
]


@pytest.mark.parametrize("query", QUERIES)
def test_a_text_is_that_of_the_file_by_itself(query: Query, tmp_path: Path) -> None:
    write(tmp_path, PLAIN | OTHERS)
    paths = [*map(str, sorted(tmp_path.glob("*/*.log"))), *map(str, segments())]

    texts = dict(zip(paths, plain_texts(paths, lambda _: query), strict=True))

    for path, plain in texts.items():
        report = Report()
        expected = b"".join(text_chunks(path, query, report))
        if plain is not None:
            assert (plain.text, plain.size) == (expected, Path(path).stat().st_size), path
            assert not report.has_lines
            assert not [*report.summary()]
    plain_topics = {Path(path).parent.name[:-2] for path, text in texts.items() if text}
    assert plain_topics >= PLAIN.keys()
    assert not plain_topics & {"torn", "zeros", "large"}


def test_files_of_which_a_part_is_read_are_left_to_scans_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, PLAIN)
    paths = [str(path) for path in tmp_path.glob("*/*.log")]
    query = Query(max_bytes=10)

    assert [*plain_texts(paths, lambda _: query)] == [None] * len(paths)
