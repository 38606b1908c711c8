"""How a search thinks, as a job says it."""

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.sections import SearchSettings
from asyncplay.methods.selfplay.messages import SearchSpec
from asyncplay.wire.codec import encode


def search_spec(search: SearchSettings, *, simulations: int | None = None, is_match: bool = False) -> bytes:
    """How to think; in a match there is no noise, hardly any chance, and nothing is decided quickly."""
    return encode(
        SearchSpec(
            simulations=simulations or search.simulations,
            leaves=search.leaves,
            fill_rows=search.fill_rows,
            c_puct=search.c_puct,
            first_play_reduction=search.first_play_reduction,
            noise_alpha=search.noise_alpha,
            noise_weight=0.0 if is_match else search.noise_weight,
            temperatures=_temperatures(search, is_match=is_match),
            worlds=search.worlds,
            exact_decisions=search.exact_decisions,
            quick_simulations=0 if is_match else search.quick_simulations,
            full_share=search.full_share,
            root=search.root,
            gumbel_actions=search.gumbel_actions,
            gumbel_visits=search.gumbel_visits,
            gumbel_scale=search.gumbel_scale,
        )
    )


def _temperatures(search: SearchSettings, *, is_match: bool) -> NDArray[np.float64]:
    """By decision; the last one is for the rest."""
    if is_match:
        return np.zeros(1)
    warm, mild = [1.0] * search.warm_decisions, [0.5] * search.mild_decisions
    return np.array([*warm, *mild, search.late_temperature])
