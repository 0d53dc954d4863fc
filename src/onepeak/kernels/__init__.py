"""The formulas of `constraints` and `methods`, fused into one pass over memory. Only these two layers import them."""
