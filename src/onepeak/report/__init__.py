"""What the runs of an experiment found: tables, figures, a page."""
