"""Small widgets that several panels share: cards, fields, labels, links, the empty state."""
