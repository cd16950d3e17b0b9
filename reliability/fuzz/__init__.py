"""Damaged files through every reader: only the package's own errors may come out.

``python -m reliability.fuzz --minutes 10 [--seed 1] [--readers csv mat_5] [--save FOLDER]``

A case is a small valid file, damaged: bits flipped, bytes cut, moved or replaced, numbers in
headers changed, also within compressed members whose checksums then agree. Its number and the seed
say which. Cases run in a child process that reports before and after each, with its memory and
time limited, so that a crash, a hang or a claim of terabytes is an answer like any other.
"""
