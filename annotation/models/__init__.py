"""What is to be judged: data sets, cases, traces and their segments."""

from .cases import Case, Dataset, Domain
from .traces import Gold, Segment, Trace

__all__ = ["Case", "Dataset", "Domain", "Gold", "Segment", "Trace"]
