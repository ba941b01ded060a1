"""What goes wrong with a model server and what becomes of it, a row a case: for the tests, and for docs/failures.md.

The tests play each case and compare exit code, outcome and message with its row; ``scripts/failures_page.py`` prints
the rows. So the page says what happens.
"""
