"""``asyncplay show``: what a blueprint does at a spot."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from asyncplay.cli import main
from asyncplay.data.policies import newest_policy
from asyncplay.games.cards import card_set
from asyncplay.rating.spots import class_name
from asyncplay.solve.abstraction.bucket_file import BucketFile


def ask(capsys, *words: object) -> dict:
    assert main(["show", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_classes_are_named_as_on_every_chart():
    names = [class_name(number) for number in range(169)]
    assert (names[0], names[-1], names[12], names[12 * 13], names[11 * 13 + 12]) == ("22", "AA", "A2s", "A2o", "AKs")
    assert len(set(names)) == 169


def test_before_the_flop_every_hand_of_the_deck_has_the_odds_of_its_bucket(holdem_run, capsys):
    """24 cards, nine to ace: 36 classes, 276 pairs of cards; the button decides first."""
    found = ask(capsys, holdem_run)
    file, odds = (
        BucketFile(holdem_run.parent / "drawn.buckets"),
        newest_policy(holdem_run).odds.view(np.float16).astype(float),
    )
    assert (found["street"], found["seat"], len(found["rows"])) == ("preflop", 1, 36)
    assert sum(row["hands"] for row in found["rows"]) == 276
    n = len(found["actions"])
    for row in found["rows"]:
        cards = f"{row['name'][0]}s{row['name'][1]}{'s' if row['name'].endswith('s') else 'h'}"
        bucket = file.bucket(card_set(cards), 0)
        assert row["odds"] == odds[bucket * n : bucket * n + n].tolist()
    assert sum(found["frequencies"]) == pytest.approx(1.0, abs=1e-3)


def test_after_a_history_the_board_decides_the_buckets(holdem_run, capsys):
    found = ask(capsys, holdem_run, "--history", "call check", "--board", "9sTdQh")
    assert (found["street"], found["seat"]) == ("flop", 0)
    assert sum(row["hands"] for row in found["rows"]) == 21 * 20 // 2
    (one,) = ask(capsys, holdem_run, "--history", "call check", "--board", "9sTdQh", "--hand", "AsAd")["rows"]
    bucket = BucketFile(holdem_run.parent / "drawn.buckets").bucket(card_set("AsAd"), card_set("9sTdQh"))
    (same,) = [row for row in found["rows"] if row["name"] == str(bucket)]
    assert one["odds"] == same["odds"]


def test_the_chart_is_text_of_13_lines_and_a_picture_of_169_hands(holdem_run, tmp_path, capsys):
    assert main(["show", str(holdem_run), "--svg", str(tmp_path / "chart.svg")]) == 0
    head, *lines, legend = capsys.readouterr().out.splitlines()
    assert head.startswith("preflop, seat 1: fold ")
    assert len(lines) == 13
    assert lines[0].startswith("AA ")
    assert "32o" in lines[-1]
    assert legend == "f fold, c call, r raise, a all-in"
    texts = [
        node.text
        for node in ElementTree.parse(tmp_path / "chart.svg").getroot().iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"AA", "AKs", "AKo", "22"} <= set(texts)
    assert len(texts) == 169 + 4


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--history", "call 7"], "'7' is not in the betting tree, which has call"),
        (["--history", "fold"], "after 'fold' there is nothing left to decide"),
        (["--history", "call check"], "--board is empty, must be 3 cards, as the history leads to the flop"),
        (["--board", "9sTdQh"], "--board is 9sTdQh, must be 0 cards, as the history leads to the preflop"),
        (["--hand", "2s3d"], "--hand: 2s is in no deck of 24 cards"),
        (["--hand", "As"], "--hand is As, must be two cards that are not on the board"),
        (["--hand", "AsAd", "--svg", "x.svg"], "only spots before the flop have a chart"),
        (["--svg", "{run}/config.toml"], "it belongs to the run in"),
    ],
)
def test_what_cannot_be_shown_is_one_line(holdem_run, words, complaint, capsys):
    assert main(["show", str(holdem_run), *(word.format(run=holdem_run) for word in words)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert complaint in lines[0]


def test_other_folders_are_refused(tmp_path, capsys):
    assert main(["show", str(tmp_path)]) == 2
    assert "is no run that solves hold'em" in capsys.readouterr().err
