"""The anchor log as a verifier sees it (spec/anchor.md)."""
