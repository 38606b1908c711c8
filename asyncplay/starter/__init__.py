"""What ``asyncplay games new`` writes: a package with a small game, to be changed into another one.

``package/`` is that package as it runs and is tested here, the files that end in .in are those around it. Where they
say "starter" what is written has the name of the new game.
"""
