"""What trains the runs of an experiment: processes on this machine, or a Ray cluster.

`local.py` decides which runs share a GPU. How many fit, and how they run side by side, is in `training/pack.py`.
"""
