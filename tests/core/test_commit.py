"""The commit that a copy was built from, read without git."""

import subprocess
from pathlib import Path

import pytest

from kraftops import commit
from kraftops.commit import head_of

ID, OTHER = "0123456789abcdef" * 2 + "01234567", "f" * 40


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"HEAD": f"{ID}\n"}, ID),
        ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{ID}\n"}, ID),
        (
            {
                "HEAD": "ref: refs/heads/main\n",
                "packed-refs": f"# x\n{OTHER} refs/heads/a\n{ID} refs/heads/main\n",
            },
            ID,
        ),
        ({"HEAD": "ref: refs/heads/none\n"}, None),
        ({"HEAD": "what?\n"}, None),
        ({}, None),
    ],
)
def test_head_is_read(tmp_path: Path, files: dict[str, str], found: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    assert head_of(str(tmp_path)) == found


def test_note_of_the_build_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / commit.FILE).write_text(f"{ID}\n")
    monkeypatch.setattr(commit, "_HERE", str(tmp_path))

    assert commit.commit_id.__wrapped__() == ID


def test_repository_above_an_installed_package_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "_HERE", str(tmp_path))
    monkeypatch.setattr(commit, "_OURS", str(tmp_path / "Cargo.toml"))

    assert commit.commit_id.__wrapped__() is None


def test_commit_of_this_tree_is_gits() -> None:
    root = Path(__file__).parents[2]
    if not (root / ".git").is_dir():
        pytest.skip("this tree is no repository")
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    )

    assert head_of(str(root / ".git")) == head.stdout.strip()
