"""What happened when: dispatches, hardware events, markers."""
