"""The evaluation: roles once, and every verb as a method or in one line."""
