"""The formulas of `constraints` fused for one pass over memory; only `constraints` imports them."""
