"""The families of receipts (spec/receipts.md)."""
