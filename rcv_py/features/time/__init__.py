"""What waves and the device did over time."""
