"""What this machine has, what would slow a run here, what would break it, and the cure of each."""
