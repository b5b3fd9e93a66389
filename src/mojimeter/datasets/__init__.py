"""What goes in: records, readers, the starter sets with their data cards."""
