"""Small widgets that several panels share: cards, fields, labels, links, what an empty panel says."""
