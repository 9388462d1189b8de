"""Paging of API lists."""

from rest_framework.pagination import PageNumberPagination as BasePagination


class PageNumberPagination(BasePagination):
    """Pages of 50 rows; `page_size` may ask for up to 200."""

    page_size_query_param = "page_size"
    max_page_size = 200
