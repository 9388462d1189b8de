"""The results page of a study, panel by panel: lists in, plain numbers out.

`reading` makes the lists, each panel's module counts one thing, `cells` remembers the segments behind every number.
"""
