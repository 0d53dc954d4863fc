"""From anybody's ordered pictures or tables to batches, with splits that do not leak."""
