"""RingRift drawn as text and SVG."""

from xml.etree import ElementTree

import pytest
from games.ringrift_table import Table, set_up

from asyncplay.games.ringrift.drawing import cap_height, cells_of, svg, text

SVG = "{http://www.w3.org/2000/svg}"


def test_a_square_board_shows_stacks_with_heights_markers_and_territory():
    table = set_up(
        stacks={(0, 0): (1, 1, 2, 2, 2), (3, 0): (1,)},
        markers={(1, 0): 1, (2, 7): 2},
        collapsed={(7, 7): 2},
        hand=[3, 0],
    )
    drawn = text(table.spec, table.state).splitlines()
    assert drawn[:3] == [
        "decision 1: A to act, ring placement",
        "A: 3 in hand, credit 0/18, territory 0/33",
        "B: 0 in hand, credit 0/18, territory 1/33",
    ]
    assert drawn[3].split() == list("abcdefgh")
    assert drawn[4].split() == ["1", "B5/3", "a", ".", "A1", ".", ".", ".", "."]
    assert drawn[11].split() == ["8", ".", ".", "b", ".", ".", ".", ".", "[b]"]


def test_the_cells_of_the_last_decision_stand_out():
    table, last = Table(), ("move", (3, 3), (3, 5))
    table.play(("place", (3, 3), 2), last)
    drawn = text(table.spec, table.state, last)
    assert ">a<" in drawn.splitlines()[7]
    assert ">A2<" in drawn.splitlines()[9]
    assert cells_of(("claim", (0, 0), 1)) == {(0, 0)}
    assert cells_of(("line", ((0, 0), (1, 0)))) == {(0, 0), (1, 0)}
    assert cells_of(("skip_capture",)) == cells_of(None) == set()


def test_a_hexagon_leans_and_shows_every_cell_once():
    table = Table(board="hex8")
    rows = text(table.spec, table.state).splitlines()[3:]
    assert [row.count(".") for row in rows] == [5, 6, 7, 8, 9, 8, 7, 6, 5]
    assert [row.split()[1] for row in rows] == [f"{a}-{b}" for a, b in zip("edcbaaaaa", "iiiiihgfe", strict=True)]
    middles = [(row.index(".") + len(row)) / 2 for row in rows]
    assert max(middles) - min(middles) <= 1


def test_the_end_is_told():
    table = set_up(stacks={(0, 0): (1, 1), (7, 7): (2,)}, markers={(2, 0): 2}, credit=[17, 0], hand=[0, 5])
    table.play(("move", (0, 0), (2, 0)))
    assert text(table.spec, table.state).startswith("A won after 1 decisions: ring_elimination")
    table = Table(max_moves=1)
    table.play(("place", (0, 0), 1))
    assert text(table.spec, table.state).startswith("no winner after 1 decisions: limit")


@pytest.mark.parametrize(("board", "cells"), [("square8", 64), ("hex8", 61), ("square19", 361), ("hexagonal", 469)])
def test_an_svg_is_xml_with_a_shape_for_each_cell_inside_its_frame(board, cells):
    table = Table(board=board, players=4)
    first = next(iter(sorted(table.legal)))
    table.play(first)
    root = ElementTree.fromstring(svg(table.spec, table.state, first))
    shapes = root.findall(f"{SVG}polygon")
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    corners = [tuple(map(float, corner.split(","))) for shape in shapes for corner in shape.attrib["points"].split()]
    assert len(shapes) == cells
    assert all(0 <= x <= width and 0 <= y <= height for x, y in corners)
    assert len(root.findall(f"{SVG}circle")) == 1
    assert sum(shape.attrib["stroke"] == "black" for shape in shapes) == 1


def test_a_cap_is_counted_from_the_top():
    assert [cap_height(rings) for rings in ((1,), (2, 1, 1), (1, 2), (2, 2, 2))] == [1, 2, 1, 3]
