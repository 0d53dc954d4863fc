"""`onepeak train`: its flags, its run and its warnings."""
