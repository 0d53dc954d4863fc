"""Tables: read with the faults of every row, encoded as numbers."""
