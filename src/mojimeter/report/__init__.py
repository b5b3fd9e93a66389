"""What comes out: tables in the terminal, one-file pages, gates."""
