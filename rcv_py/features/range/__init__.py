"""What waves did in a range of cycles."""
