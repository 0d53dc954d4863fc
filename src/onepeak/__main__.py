"""Runs the command line as `python -m onepeak`."""

from onepeak.cli import main

if __name__ == "__main__":
    main()
