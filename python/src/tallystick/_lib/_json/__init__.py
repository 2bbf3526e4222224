"""The gate for untrusted JSON. ``tallystick._lib.canonical`` is its public face."""
