"""``asyncplay tree``."""

import json

import pytest

from asyncplay.cli import main


def test_a_tree_is_counted_street_by_street(tmp_path, capsys):
    """20 big blinds with the smallest preset: the quick one's 33 MB."""
    path = tmp_path / "quick.toml"
    path.write_text('[game]\nname = "holdem"\n[game.options]\nstack = 40\n[abstraction]\nbuckets = "12/40/40/32"\n')
    assert main(["tree", str(path), "--json"]) == 0
    *streets, total = json.loads(capsys.readouterr().out)["rows"]
    assert [row["street"] for row in streets] == ["preflop", "flop", "turn", "river"]
    assert (total["decisions"], total["entries"], total["table_bytes"]) == (25_796, 2_032_476, 32_519_616)
    for column in ("decisions", "infosets", "entries", "table_bytes"):
        assert sum(row[column] for row in streets) == total[column]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["leduc"], "game.name is leduc: only holdem has an abstraction with a betting tree"),
        (
            ["--abstraction.bucket", "1/1/1/1"],
            "--abstraction.bucket is no known key; did you mean abstraction.buckets?",
        ),
        (["--buckets", "1/1/1/1"], "--buckets is no known option; did you mean --abstraction.buckets?"),
    ],
)
def test_a_mistake_is_one_line(words, complaint, capsys):
    assert main(["tree", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert complaint in lines[0]


def test_what_does_not_fit_is_refused_before_anything_is_built(monkeypatch, capsys):
    monkeypatch.setattr("asyncplay.machine.at_hand", lambda: 1_500_000_000)
    assert main(["tree"]) == 2
    assert 'buckets = "12/40/40/32" would fit' in capsys.readouterr().err
