"""Why an embedder cannot be made or used."""


class EmbedderError(ValueError):
    """The name of an embedder, one of its options, or what it needs cannot be used; says the remedy."""


class ExtraMissing(EmbedderError):
    """The optional packages that an embedder needs are not installed."""
