"""One file a figure: its numbers, how it looks on the page, how it looks in print."""
