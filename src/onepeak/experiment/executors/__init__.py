"""What trains the runs of an experiment: processes on this machine, or a Ray cluster."""
