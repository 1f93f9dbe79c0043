"""The page of a report in Chromium: drawn, steered, searched, and deaf to what its data says."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.findings.finding import Severity
from kraftops.report.page.render import page

pytest.importorskip("selenium", reason="needs selenium")

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.helpers.browser.chromium import MISSING, Browser, browser
from tests.helpers.tools.console import KRAFTOPS, run_here

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

SAMPLE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data/report/sample.json").read_text("utf-8")
)
SAMPLE["findings"].sort(key=lambda row: [*Severity].index(row["severity"]))  # as a report is
NASTY = (
    '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\x1b[31m'
    + "w" * 900
)
SHOWN = (
    r'"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u001b[31mwww'
)
NOT_TEXTS = {
    "state",
    "kind",
    "severity",
    "codec",
    "unit",
    "command",
    "bucketCommand",
    "formatVersion",
}
"""Fields with words of our own, in documents of nasty texts."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return written(tmp_path, SAMPLE)


def written(folder: Path, document: dict[str, Any]) -> Path:
    """Write the page of a report, and return its path."""
    path = folder / "report.html"
    path.write_text(page(document), encoding="utf-8")
    return path


def one(chromium: Browser, selector: str) -> WebElement:
    return chromium.driver.find_element(By.CSS_SELECTOR, selector)


def texts(chromium: Browser, selector: str) -> list[str]:
    found = chromium.run(
        "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)",
        selector,
    )
    assert isinstance(found, list)
    return found


def keys(chromium: Browser, *sent: str) -> None:
    ActionChains(chromium.driver, duration=0).send_keys(*sent).perform()


def painted(chromium: Browser, selector: str) -> list[int]:
    """Return how many pixels of each canvas have a colour."""
    found = chromium.run(
        """return [...document.querySelectorAll(arguments[0])].map((canvas) => {
          const pen = canvas.getContext("2d");
          const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, at) => at % 4 === 3 && value > 0).length;
        })""",
        selector,
    )
    assert isinstance(found, list)
    return found


def drag(chromium: Browser, *shares: float, down: int) -> None:
    """Press the pointer on the plots, move it and let it go: places are shares of the time shown."""
    chromium.run("document.querySelector('#timeline').scrollIntoView()")
    left, top, width = chromium.run(
        "const box = document.querySelector('.plots').getBoundingClientRect();"
        "return [box.left, box.top, box.width]"
    )
    places = [int(left + 85 + share * (width - 100)) for share in shares]
    actions = ActionBuilder(chromium.driver, duration=0)
    actions.pointer_action.move_to_location(places[0], int(top + down)).pointer_down()
    for place in places[1:]:
        actions.pointer_action.move_to_location(place, int(top + down))
    actions.pointer_action.pointer_up()
    actions.perform()


def test_report_of_a_real_cluster_is_drawn(chromium: Browser, tmp_path: Path) -> None:
    """Brokers 4 and 3 were stopped one after the other, and at last the others."""
    path = tmp_path / "report.html"
    log = Path(__file__).parents[1] / "data/shell/in/n431"

    done = run_here("report", str(log), "--output", str(path), program=KRAFTOPS)
    chromium.open(path)

    assert (done.code, done.err) == (0, "")
    assert chromium.messages() == []
    assert min(painted(chromium, ".plots canvas")) > 50
    offset = texts(chromium, "#findings .where")[0].rsplit(" ", 1)[1]
    command = texts(chromium, "#findings .command code")[0]
    words = shlex.split(command)
    assert words[0] == "kraftops"
    shown = run_here(*words[1:], program=KRAFTOPS, cwd=log)
    assert shown.code == 0
    assert f"offset: {offset} " in shown.text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_page_is_drawn_without_complaints_and_without_a_network(
    chromium: Browser, sample: Path, *, dark: bool
) -> None:
    chromium.open(sample, dark=dark)

    assert chromium.messages() == []
    assert {address for address in chromium.requests() if not address.startswith("data:")} == {
        sample.as_uri()
    }
    assert len(painted(chromium, ".plots .uplot canvas")) == 6
    assert min(painted(chromium, ".plots canvas")) > 50
    ground = chromium.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) < 200) is dark


def test_theme_is_switched_and_charts_follow(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    colour = """const [canvas] = document.querySelectorAll(".plots .panel canvas[role]");
      return [...canvas.getContext("2d").getImageData(canvas.width - 20, 12, 1, 1).data].join()"""
    light = chromium.run(colour)

    one(chromium, "#theme").click()
    one(chromium, "#theme").click()

    assert one(chromium, "#theme").text == "Theme: dark"
    assert chromium.run("return document.documentElement.dataset.theme") == "dark"
    assert chromium.run(colour) != light
    chromium.run("dispatchEvent(new Event('beforeprint'))")
    assert chromium.run(colour) == light
    chromium.run("dispatchEvent(new Event('afterprint'))")
    assert chromium.run(colour) != light


@pytest.mark.parametrize(("is_quiet", "is_dark"), [(False, False), (False, True), (True, False)])
def test_axe_finds_nothing_that_keeps_people_out(
    chromium: Browser, tmp_path: Path, *, is_quiet: bool, is_dark: bool
) -> None:
    axe = pytest.importorskip("selenium_axe_python").Axe(chromium.driver)
    quiet = {
        **SAMPLE,
        **dict.fromkeys(("incidents", "logs", "groups", "transactions", "findings"), ()),
        "worst": {"partitions": [], "topics": []},
        "timeline": {**SAMPLE["timeline"], "changes": []},
    }
    chromium.open(written(tmp_path, quiet if is_quiet else SAMPLE), dark=is_dark)

    axe.inject()

    violations = axe.run()["violations"]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations] == []


def test_tables_fit_a_printed_page(chromium: Browser, tmp_path: Path) -> None:
    log = {
        "directory": f"/var/lib/kafka/data/{'a-long.topic-name-' * 5}17",
        "records": 123_456_789,
        "openTransactions": 1234,
    }
    source = {"name": log["directory"]}
    document = {
        **SAMPLE,
        "logs": [{**one, **log} for one in SAMPLE["logs"]],
        "sources": [{**one, **source} for one in SAMPLE["sources"]],
    }
    chromium.open(written(tmp_path, document), width=718)  # A4 without its margins

    chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})

    found = chromium.run("""return [...document.querySelectorAll(".table")]
      .filter((each) => each.scrollWidth > each.clientWidth + 2)
      .map((each) => each.textContent.slice(0, 40))""")
    chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert found == []


def test_pointer_zooms_all_charts_and_shows_a_moment(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    start, step = SAMPLE["timeline"]["start"], SAMPLE["timeline"]["step"]
    before = painted(chromium, ".plots canvas")

    drag(chromium, 0.25, 0.4, 0.5, down=120)

    (shown,) = texts(chromium, ".steer .range")
    assert shown.startswith("2026-11-18 12:36:")  # under the pointer, at the end
    window = one(chromium, ".overview div").value_of_css_property("left")
    assert float(window.removesuffix("px")) > 250
    changed = [a != b for a, b in zip(before, painted(chromium, ".plots canvas"), strict=True)]
    assert changed.count(True) > 6

    one(chromium, ".steer .buttons button:last-child").click()
    # Broker 2 is in the second row; it is fenced after a third of the time.
    down = chromium.run(
        """return document.querySelector('canvas[aria-label^="States of"]').offsetTop + 26"""
    )
    drag(chromium, 0.3, down=down)

    (moment,) = texts(chromium, "#moment")
    assert "Broker 2: fenced from 2026-11-18 11:48:00 to 2026-11-18 12:16:00 (28 min)" in moment
    begin = re.search(r"--since (\d+) --until (\d+)", moment)
    assert begin is not None
    assert (int(begin[1]) - start) % step == 0
    assert int(begin[2]) - int(begin[1]) == step
    assert "--offsets 1042" in moment


def test_keys_steer_the_timeline(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    chromium.run("arguments[0].focus()", one(chromium, ".plots"))
    (whole,) = texts(chromium, ".steer .range")

    keys(chromium, "+", "+")
    (near,) = texts(chromium, ".steer .range")
    keys(chromium, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    (said,) = texts(chromium, "#timeline .unseen[aria-live]")
    keys(chromium, Keys.ENTER)
    (moment,) = texts(chromium, "#moment h3")
    keys(chromium, Keys.ESCAPE)

    assert re.match(r"2026-11-18 11:06:00 . 14:06:00", whole)
    assert "45 min shown" in near
    assert re.match(r"2026-11-18 12:\d\d:00: Metadata records \d+", said)
    assert moment.startswith(said[:19])
    assert texts(chromium, ".steer .range") == [whole]


def test_times_of_findings_and_changes_lead_to_the_timeline(
    chromium: Browser, sample: Path
) -> None:
    chromium.open(sample)
    one(chromium, ".steer .buttons button:nth-child(3)").click()

    chromium.run("document.querySelector('#findings button.plain').click()")

    # Of the worst findings, unclean elections are first.
    assert texts(chromium, "#moment h3")[0].startswith("2026-11-18 11:58:00")
    assert chromium.run("return document.activeElement.className") == "plots"
    one(chromium, "#changes input[type=checkbox]").click()
    (shown,) = texts(chromium, "#changes .after-table")
    one(chromium, ".steer .buttons button:last-child").click()
    assert texts(chromium, "#changes .after-table") != [shown]


def test_search_finds_rows_everywhere(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    before = len(texts(chromium, "tbody tr"))

    keys(chromium, "/")
    keys(chromium, "unclean")

    assert chromium.run("return document.activeElement.id") == "search"
    assert texts(chromium, "#found") == ["1 found"]
    assert len(texts(chromium, ".findings li")) == 1
    assert texts(chromium, ".findings mark") == ["unclean"]
    assert "Findings 1" in texts(chromium, "#sections a")
    assert texts(chromium, "#partitions .none") == ["No row matches."]
    keys(chromium, Keys.ESCAPE)
    assert len(texts(chromium, "tbody tr")) == before
    assert texts(chromium, "#found") == [""]


def test_tables_are_sorted_by_their_heads(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    column = "#partitions tbody tr:not(.more) td:nth-child(2)"
    head = "document.querySelectorAll('#partitions th button')[1].click()"

    chromium.run(head)
    falling = [int(text) for text in texts(chromium, column)]
    chromium.run(head)
    rising = [int(text) for text in texts(chromium, column)]

    assert len(falling) > 5
    assert falling == sorted(falling, reverse=True)
    assert rising == sorted(rising)
    assert (
        chromium.run("return document.querySelectorAll('#partitions th')[1].ariaSort")
        == "ascending"
    )


def test_rows_open_to_their_commands_and_logs_to_their_charts(
    chromium: Browser, sample: Path
) -> None:
    chromium.open(sample)

    chromium.run("document.querySelector('#partitions .expander').click()")
    chromium.run("document.querySelector('#logs .expander').click()")

    command = SAMPLE["worst"]["partitions"][0]["command"]
    assert (
        chromium.run("return document.querySelector('#partitions tr.more code').textContent")
        == command
    )
    assert min(painted(chromium, "#logs canvas")) >= 10
    assert len(painted(chromium, "#logs .uplot canvas")) == 2
    assert "a wrong checksum" in texts(chromium, "#logs tr.more")[0]


def test_commands_are_copied(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)
    chromium.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )

    one(chromium, "#findings .command button").click()

    found = chromium.driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => navigator.clipboard.readText().then(done, done))"
    )
    assert found in {command for finding in SAMPLE["findings"] for command in finding["commands"]}
    assert texts(chromium, "#findings .command button")[0] == "Copied"


def test_links_lead_to_sections_and_all_is_reached_by_keys(chromium: Browser, sample: Path) -> None:
    chromium.open(sample)

    links = chromium.run(
        "return [...document.querySelectorAll('#sections a')].map((each) => each.hash)"
    )
    nameless = chromium.run(
        """return [...document.querySelectorAll("button, input, select, [role=img], [role=group]")]
          .filter((each) => !(each.innerText || each.ariaLabel || each.labels?.length)).length"""
    )

    assert len(links) == 11
    assert all(
        chromium.run("return !document.querySelector(arguments[0]).hidden", link) for link in links
    )
    assert nameless == 0
    keys(chromium, Keys.TAB)
    assert texts(chromium, ":focus") == ["Skip to the findings"]


def nasty(value: Any, name: str = "") -> Any:
    """Return a document with all of its texts replaced but the words of our own."""
    if isinstance(value, dict):
        return {key: nasty(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [nasty(each, name) for each in value]
    return NASTY if isinstance(value, str) and name not in NOT_TEXTS else value


def test_nasty_names_stay_text_and_fit_a_phone(chromium: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, nasty(SAMPLE))

    chromium.open(path, width=400, height=800)
    chromium.run("document.querySelectorAll('.expander').forEach((each) => each.click())")
    chromium.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    chromium.run("document.querySelector('#findings button.plain').click()")

    assert chromium.messages() == []
    assert chromium.run("return window.hacked ?? null") is None
    assert chromium.run("return document.querySelectorAll('img, script').length") == 3
    assert texts(chromium, "h1")[0].startswith(SHOWN)
    assert chromium.run("return document.title").startswith(SHOWN)
    (changes,) = texts(chromium, "#changes")
    assert changes.count(SHOWN) > 5
    assert "\u202e" not in chromium.run("return document.body.innerText")
    assert chromium.run("return document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("width", [320, 400, 800, 1280])
def test_page_is_as_wide_as_its_window(chromium: Browser, sample: Path, width: int) -> None:
    chromium.open(sample, width=1000)

    chromium.resize(width, 800)

    assert (
        chromium.run(
            "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.scrollWidth))))"
        )
        <= width
    )
    assert chromium.run("return document.querySelector('.plots canvas').clientWidth") <= width
    assert min(painted(chromium, ".plots canvas")) > 50


def test_policy_keeps_other_scripts_out(chromium: Browser, tmp_path: Path) -> None:
    """As in a file that somebody else has added to, or that a mistake of ours let in."""
    path = written(tmp_path, SAMPLE)
    injected = """<script>window.hacked = 1</script><img src="x" onerror="window.hacked = 1">
      <style>body { display: none }</style><script src="https://example.com/x.js"></script>"""
    path.write_text(
        path.read_text("utf-8").replace("<main>", f"<main>{injected}"), encoding="utf-8"
    )

    chromium.open(path)

    assert chromium.run("return window.hacked ?? null") is None
    assert chromium.run("return getComputedStyle(document.body).display") == "block"
    complaints = chromium.messages()
    assert len(complaints) >= 4
    assert all("Content Security Policy" in each for each in complaints)
    assert not [address for address in chromium.requests() if address.startswith("http")]
    with pytest.raises(Exception, match="TrustedHTML"):
        chromium.run("document.body.innerHTML = '<b>x</b>'")


NOTHING = {
    "cluster": None,
    "timeline": None,
    "worst": {"partitions": [], "topics": []},
    "groups": [],
    "transactions": [],
    "findings": [],
}


@pytest.mark.parametrize("logs", [SAMPLE["logs"], []], ids=["logs", "nothing"])
def test_report_without_metadata(chromium: Browser, tmp_path: Path, logs: list[Any]) -> None:
    path = written(tmp_path, {**SAMPLE, **NOTHING, "logs": logs, "sources": SAMPLE["sources"][1:]})

    chromium.open(path)

    assert chromium.messages() == []
    assert texts(chromium, "#findings .none") == ["Nothing wrong was found."]
    assert bool(texts(chromium, "#timeline:not([hidden])")) is bool(logs)
    assert texts(chromium, "#cluster:not([hidden])") == []
    assert len(painted(chromium, ".plots .uplot canvas")) == 2 * bool(logs)
    if logs:
        chromium.run("document.querySelector('.plots').focus()")
        keys(chromium, Keys.ENTER)
        step = logs[0]["series"][0]["step"]
        (shown,) = re.findall(r"--since (\d+) --until (\d+)", texts(chromium, "#moment")[0])
        assert int(shown[1]) - int(shown[0]) == step
        assert int(shown[0]) % step == 0


def test_bucket_that_is_longer_than_the_time_shown_is_drawn(
    chromium: Browser, tmp_path: Path
) -> None:
    """A log from long before makes the buckets of all logs long."""
    timeline = SAMPLE["timeline"]
    step = 2**36
    series = {"name": "records", "unit": "records", "step": step, "values": [3, 4]}
    start = timeline["start"] // step * step - step
    log = {**SAMPLE["logs"][0], "series": [{**series, "start": start}]}

    chromium.open(written(tmp_path, {**SAMPLE, "logs": [log]}))

    assert "2026-11-18 11:06:00" in texts(chromium, ".steer .range")[0]
    assert painted(chromium, ".plots .uplot canvas")[-1] > 20_000

    chromium.open(written(tmp_path, {**SAMPLE, "logs": [log, *SAMPLE["logs"]]}))

    assert "Records in 1 of 2 logs" in texts(chromium, ".plots")[0]


def test_bucket_that_begins_before_the_timeline_counts(chromium: Browser, tmp_path: Path) -> None:
    """The buckets of logs begin at multiples of their steps, and the timeline where it does."""
    start, step = SAMPLE["timeline"]["start"], 2**14
    series = {"name": "records", "unit": "records", "step": step, "values": [5, 2]}
    log = {**SAMPLE["logs"][0], "series": [{**series, "start": start // step * step}]}

    chromium.open(written(tmp_path, {**SAMPLE, "logs": [log]}))

    assert start % step, "it begins before the timeline"
    assert texts(chromium, ".plots")[0].rsplit("Records in all logs", 1)[1].split() == ["7"]


def test_odd_numbers_and_times_are_shown_as_they_are(chromium: Browser, tmp_path: Path) -> None:
    """A clock in 1970, one bucket, times that are none, offsets beyond 2^53 and fields without values."""
    far, long = 9_223_372_036_854_775_807, 9_007_199_254_740_993
    timeline = {
        **SAMPLE["timeline"],
        "step": 1,
        "start": 0,
        "end": 1,
        "buckets": 1,
        "bucketCommand": None,
        "brokers": [
            {
                "id": 7,
                "rack": None,
                "bands": [
                    {"state": "active", "from": 0, "to": 0, "offset": None, "command": None},
                    {"state": "new", "from": 5, "to": 1, "offset": long, "command": None},
                ],
            }
        ],
        "controllers": [],
        "leadership": [
            {"from": 0, "to": 1, "leader": -1, "epoch": 0, "offset": long, "command": None}
        ],
        "series": [
            {"name": "offline", "unit": "partitions", "kind": "level", "by": None, "values": []}
        ],
        "changes": [
            {**SAMPLE["timeline"]["changes"][0], "time": far, "offset": long},
            {**SAMPLE["timeline"]["changes"][0], "time": -1, "offset": -1},
        ],
    }
    finding = {**SAMPLE["findings"][0], "time": None, "commands": ["x\ny"], "severity": "dire"}
    finding["text"] = "a" + "\u0301" * 5
    document = {**SAMPLE, "timeline": timeline, "findings": [finding], "logs": []}

    chromium.open(
        written(tmp_path, {**document, "generatedAt": far, "window": {"since": -1, "until": far}})
    )
    keys(chromium, Keys.TAB)
    chromium.run("document.querySelector('.plots').focus()")
    keys(chromium, "+", "-", Keys.ARROW_LEFT, Keys.ENTER, Keys.ESCAPE)

    assert chromium.messages() == []
    (changes,) = texts(chromium, "#changes")
    assert str(long) in changes
    assert f"{far} ms" in changes or "9223372036854776000 ms" in changes
    assert "1969-12-31 23:59:59.999" in changes
    assert texts(chromium, "#findings .command code") == [r"x\ny"]
    assert texts(chromium, "#findings .command button") == []
    assert texts(chromium, "#findings .text") == ["a" + "\u0301" * 3 + r"\u0301\u0301"]


def test_large_report_is_drawn_at_once(chromium: Browser, tmp_path: Path) -> None:
    """A thousand brokers, two thousand buckets, and a point of each kind in most of them."""
    timeline, step = SAMPLE["timeline"], 5000
    end = timeline["start"] + 2000 * step
    states = ("active", "fenced", "controlled-shutdown", "unregistered")
    brokers = [
        {
            "id": broker,
            "rack": "r",
            "bands": [
                {
                    "state": states[(broker + at) % 4],
                    "from": timeline["start"] + at * 500 * step,
                    "to": timeline["start"] + (at + 1) * 500 * step,
                    "offset": at,
                    "command": "true",
                }
                for at in range(4)
            ],
        }
        for broker in range(1000)
    ]
    series = [
        {
            "name": name,
            "unit": "x",
            "kind": kind,
            "by": by,
            "values": [(at * 7919 + len(name)) % 97 for at in range(2000)],
        }
        for name, kind in (
            ("underReplicated", "level"),
            ("offline", "level"),
            ("elections", "count-per-bucket"),
            ("isrShrinks", "count-per-bucket"),
            ("aNewOne", "level"),
        )
        for by in (None, *range(40))
        if by is None or kind != "level"
    ]
    path = written(
        tmp_path,
        {
            **SAMPLE,
            "timeline": {
                **timeline,
                "step": step,
                "end": end,
                "buckets": 2000,
                "brokers": brokers,
                "series": series,
            },
        },
    )

    chromium.open(path)

    assert chromium.messages() == []
    assert "24 of 1,000 brokers" in texts(chromium, "#timeline .remark")[0]
    assert "24 of 40 brokers" in texts(chromium, "#timeline")[0]
    took = chromium.run(
        "const from = performance.now(); document.querySelector('.steer .buttons button:nth-child(3)').click(); return performance.now() - from"
    )
    assert took < 2000
    chromium.run("document.querySelector('#timeline .remark button').click()")
    assert "500 of 1,000 brokers" in texts(chromium, "#timeline .remark")[0]
    assert min(painted(chromium, ".plots canvas")) > 50


def test_no_controller_follows_where_no_leader_is_known(chromium: Browser, tmp_path: Path) -> None:
    controllers = [{"id": each, "host": "c:9093", "isLeader": False} for each in (7, 8)]
    cluster = {**SAMPLE["cluster"], "controllers": controllers}

    chromium.open(written(tmp_path, {**SAMPLE, "cluster": cluster}))

    rows = [row.split() for row in texts(chromium, "#cluster tbody tr") if "c:9093" in row]
    assert rows == [["7", "\u2013", "c:9093"], ["8", "\u2013", "c:9093"]]
