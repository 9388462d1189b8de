"""Why a labeller cannot be made."""


class LabellerError(ValueError):
    """The name of a labeller, one of its options, or what it needs cannot be used; says the remedy."""


class ExtraMissing(LabellerError):
    """The optional packages that a labeller needs are not installed."""


class ModelError(LabellerError):
    """A model cannot be used as a relation labeller."""
