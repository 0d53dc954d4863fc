"""The paper's mathematics: the order constraints on adjacent scores and what makes a loss of them."""
