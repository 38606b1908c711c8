"""The published table's module runs; its figure is judged by the bench, not here."""

from asyncplay.bench.search import measure


def test_the_bench_counts_simulations():
    result = measure("tictactoe", simulations=8, seconds=0.2)

    assert result["game"] == "tictactoe"
    assert result["sims_per_s"] > 10_000
