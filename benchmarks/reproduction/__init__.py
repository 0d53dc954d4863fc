"""Tables and figures of the pages on the paper's FG-NET experiment, from the committed records."""
