"""Widgets and drawing that know nothing of a particular panel."""
