"""Results as AMD's own scripts compute them, for `rcv hotspot --like`."""
