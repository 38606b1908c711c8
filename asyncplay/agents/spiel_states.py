"""Our games as OpenSpiel knows them: their names there, our position of their state, their string of what a seat knows.

Only games whose rules, actions and outcomes of chance have the same numbers in both; tests walk both side by side.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games import dealt, leduc
from asyncplay.games.position import Position
from asyncplay.games.spec import GameSpec

BOARDS = {"connect4": "connect_four", "tictactoe": "tic_tac_toe"}  # ours and theirs
DEALT = ("kuhn", "leduc", "liarsdice")
LEDUC_MONEY = 100  # of a seat, before its ante
CHANCE_PLAYER = -1  # theirs

State = NDArray[np.int64]


def spiel_name(spec: GameSpec) -> str:
    """What ``pyspiel.load_game`` takes for this game; AsyncplayError if OpenSpiel does not have it."""
    match spec.name:
        case "connect4" | "tictactoe":
            return BOARDS[spec.name]
        case "kuhn":
            return f"kuhn_poker(players={spec.players})"
        case "leduc":
            return f"leduc_poker(players={spec.players})"
        case "liarsdice":
            return f"liars_dice(dice_sides={int(spec.rules[dealt.VALUES])})"
    raise AsyncplayError(f"OpenSpiel does not play {spec.name} by our rules; known are {', '.join((*BOARDS, *DEALT))}")


def position_of(spec: GameSpec, theirs: Any) -> Position:
    """Our position after the history of a ``pyspiel.State`` of the same game."""
    kernels, rules, room, state = spec.kernels, spec.rules, spec.new_room(), spec.new_state()
    for step in theirs.full_history():
        if step.player == CHANCE_PLAYER:
            assert kernels.happen is not None, "games with chance that OpenSpiel has can be told what happens"
            kernels.happen(rules, state, int(step.action))
        else:
            kernels.play(rules, state, int(step.action), room)
    return Position.from_state(spec, state)


def information_state(spec: GameSpec, state: State) -> str:
    """OpenSpiel's ``information_state_string`` of the seat to decide, for a game that chance deals."""
    seat = int(spec.kernels.to_move(spec.rules, state))
    hand = int(state[dealt.HANDS + seat])
    actions = state[dealt.HISTORY : dealt.HISTORY + int(state[dealt.DECISIONS])].tolist()
    if spec.name == "kuhn":
        return f"{hand}" + "".join("pb"[action] for action in actions)
    if spec.name == "liarsdice":
        faces = int(spec.rules[dealt.VALUES])
        return " ".join([f"{hand + 1}", *(f"{action // faces + 1}-{action % faces + 1}" for action in actions)])
    assert spec.name == "leduc", "the games that are dealt"
    paid = state[leduc.PAID : leduc.PAID + spec.players] + leduc.ANTE
    money = " ".join(str(LEDUC_MONEY - int(chips)) for chips in paid)
    n_first = _decisions_of_first_round(spec, state) if state[leduc.ROUNDS] else len(actions)
    rounds = [" ".join(map(str, part)) for part in (actions[:n_first], actions[n_first:])]
    public = f"[Public: {int(state[dealt.HANDS + spec.players])}]" if state[leduc.ROUNDS] else ""
    return (
        f"[Observer: {seat}][Private: {hand}][Round {int(state[leduc.ROUNDS]) + 1}][Player: {seat}]"
        f"[Pot: {int(paid.sum())}][Money: {money}]{public}[Round1: {rounds[0]}][Round2: {rounds[1]}]"
    )


def _decisions_of_first_round(spec: GameSpec, state: State) -> int:
    """How many decisions of Leduc came before the upcard: played again until the first round is over."""
    before, room, count = spec.new_state(), spec.new_room(), 0
    hands = slice(dealt.HANDS, dealt.HANDS + spec.players)
    before[hands], before[dealt.DEALT] = state[hands], spec.players
    while not before[leduc.ROUNDS]:
        spec.kernels.play(spec.rules, before, int(state[dealt.HISTORY + count]), room)
        count += 1
    return count
