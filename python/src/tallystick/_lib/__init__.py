"""The modules behind ``tallystick``, which exports what is public of them."""
