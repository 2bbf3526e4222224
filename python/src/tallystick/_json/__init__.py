"""The gate for untrusted JSON. ``tallystick.canonical`` is its public face."""
