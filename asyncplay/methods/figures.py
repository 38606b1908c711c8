"""Every part that a run can show: what writes or reads snapshots imports this module and knows all methods' parts."""

import asyncplay.engine.figures
import asyncplay.methods.mccfr.figures
import asyncplay.methods.population.figures
import asyncplay.methods.selfplay.figures  # noqa: F401
