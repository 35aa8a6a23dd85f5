"""Words every layer needs: errors, problems, progress, colours, settings, number formatting."""
