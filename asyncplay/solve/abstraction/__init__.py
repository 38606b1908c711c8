"""The small game that a blueprint is solved in: few raises instead of all amounts, buckets instead of cards."""
