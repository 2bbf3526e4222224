"""Inference calls and their receipts (spec/compute.md)."""
