"""One place that knows a run folder."""
