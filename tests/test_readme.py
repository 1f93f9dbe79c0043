"""The README's examples print exactly the output that it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_prints_what_the_readme_shows(command: str, output: str) -> None:
    scripts = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"]}

    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout + done.stderr == output


def test_python_example_prints_what_the_readme_shows() -> None:
    section = README.split("\n## From Python\n")[1].split("\n## ")[0]
    fences = re.findall(r"^```(\w+)\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    (python, program), (_, output) = fences
    assert python == "python"

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout + done.stderr == output


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)

    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.parametrize("heading", ["Run it", "Test it"])
def test_heading_has_one_command_of_one_line(heading: str) -> None:
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    fences = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)

    assert len(fences) == 1
    assert fences[0].count("\n") == 1
