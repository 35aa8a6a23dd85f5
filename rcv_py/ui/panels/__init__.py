"""One file a panel; a panel is found because its file is here."""
