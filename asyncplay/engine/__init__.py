"""The run without a method: workers, their supervision, the queue, the device lane, the books."""
