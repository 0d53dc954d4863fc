"""The formulas of `constraints`, fused into one pass over memory. Only that layer imports them."""
