"""Many runs as one experiment: the grid, its folder, and what the runs say together."""
