"""Looking into the stores of runs: counts, checks, exports, lists. Reads only, also beside a run that goes on."""
