"""The flame graph as a widget: scene, canvas, paint.  Read `flame_view.py` first."""
