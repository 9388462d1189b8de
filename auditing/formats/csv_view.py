"""Tables as CSV for spreadsheets: see `reasonaudit.lib.csv_view`, which all apps share."""

from reasonaudit.lib.csv_view import FORMULA_STARTS, Cell, CsvView, escape, unescape, write_csv

__all__ = ["FORMULA_STARTS", "Cell", "CsvView", "escape", "unescape", "write_csv"]
