"""Networks, their backends and the device lane. The only user of torch."""
