"""What was trained, in your own hands: loaded to decide, exported, or seated in OpenSpiel."""
