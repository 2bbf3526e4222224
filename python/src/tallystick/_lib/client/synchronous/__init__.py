# Written by scripts/unasync.py from ../asynchronous/__init__.py; do not edit.
"""The blocking client."""
