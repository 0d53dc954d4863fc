"""Splits of a data set: made by a protocol, checked for leaks, saved to files."""

from onepeak.data.splits.copies import Finding, conflicting_duplicates, item_digests, keep_copies_together
from onepeak.data.splits.files import load_splits, save_splits
from onepeak.data.splits.leaks import Leak, LeakError, find_leaks, refuse_leaks
from onepeak.data.splits.protocols import PROTOCOLS, SplitProtocol, find_protocol, make_splits
from onepeak.data.splits.split import PARTS, Split, class_counts, group_counts, split_notes

__all__ = [
    "PARTS",
    "PROTOCOLS",
    "Finding",
    "Leak",
    "LeakError",
    "Split",
    "SplitProtocol",
    "class_counts",
    "conflicting_duplicates",
    "find_leaks",
    "find_protocol",
    "group_counts",
    "item_digests",
    "keep_copies_together",
    "load_splits",
    "make_splits",
    "refuse_leaks",
    "save_splits",
    "split_notes",
]
