"""Receipts of other makers, judged by the same verdicts (spec/verification.md)."""
