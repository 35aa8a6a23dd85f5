"""Boxes in front of the window, and bands in it: about, settings, errors, chooser, alarm."""
