"""A population: several agents that learn from rewards, a network each."""
