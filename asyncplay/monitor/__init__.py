"""A run as a person meets it while it goes on: what it shows, what holds it back, what can be changed."""
