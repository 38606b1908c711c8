"""Who decides for a seat: search, rules, perfect play, OpenSpiel, chance."""
