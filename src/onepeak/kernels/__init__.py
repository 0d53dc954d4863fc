"""The formulas of `constraints` and `methods` fused for one pass over memory; only these two import them."""
