"""`onepeak compare`: its flags, its run, its progress and its output."""
