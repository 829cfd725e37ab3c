"""What a report is billed as, and what remains of the placement problem."""
