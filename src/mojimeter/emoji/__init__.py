"""What an emoji is: find, strip, compare, name, group, rank by use."""
