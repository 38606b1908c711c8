"""Building card buckets: boards are units of work for the same workers that play and solve."""
