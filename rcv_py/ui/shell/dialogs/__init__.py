"""Dialogs over the window and bands in it: about, settings, errors, chooser, alarm."""
