"""Checks untrusted JSON. ``tallystick._lib.canonical`` exports it."""
