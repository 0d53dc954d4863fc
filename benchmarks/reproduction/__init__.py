"""What the committed records of the paper's FG-NET experiment say, as the tables and images of the pages on it."""
