"""Agents by name: a new opponent is its module and its line here."""

from asyncplay.agents import ismcts, library, mcts, openspiel
from asyncplay.agents.agent import Agent
from asyncplay.agents.library import LibraryAgent
from asyncplay.agents.mcts import MctsAgent
from asyncplay.agents.openspiel import OpenSpielAgent
from asyncplay.agents.perfect import PerfectAgent
from asyncplay.agents.random import RandomAgent
from asyncplay.agents.rules import RulesAgent
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec


def make_agent(name: str, game: GameSpec) -> Agent:
    """Make the agent that ``name`` stands for; AsyncplayError if there is none."""
    _, _, detail = name.rpartition("-")
    match name:
        case "random":
            return RandomAgent()
        case "rules":
            return RulesAgent(game)
        case "perfect":
            return PerfectAgent(game.name)
        case _ if name == f"{mcts.PREFIX}{detail}" and openspiel.is_count(detail):
            return MctsAgent(game, int(detail))
        case _ if name == f"{openspiel.PREFIX}{detail}" and openspiel.is_count(detail):
            return OpenSpielAgent(game.name, int(detail))
        case _ if name.startswith(library.PREFIX):
            return LibraryAgent(name, game)
    raise AsyncplayError(
        f"{name!r} is no opponent; known are random, rules, perfect, mcts-ROLLOUTS, openspiel:mcts-ROLLOUTS, "
        "openspiel:ismcts-SIMULATIONS, a version or the folder of a run"
    )


def name_for_workers(name: str, game: GameSpec) -> str:
    """Check that the opponent a user names exists; return the name by which workers make it."""
    if name.startswith(ismcts.PREFIX):
        return ismcts.name_for_workers(name, game)
    if name.startswith(library.PREFIX):  # a name for workers alone
        raise AsyncplayError(f"{name!r} is no opponent; wanted is {ismcts.PREFIX}SIMULATIONS")
    make_agent(name, game)
    return name
