"""Why a media task gave no result. Each holds one sentence for a person, without any path of the server."""


class MediaError(Exception):
    """No result. `str(error)` is a sentence that says what is wrong and, where there is one, the remedy."""


class MediaRefused(MediaError):
    """The file is the reason: unreadable, unsupported, over a limit, or not exactly reproducible."""


class MediaFailed(MediaError):
    """Something here is the reason: the child was killed, ran out of wall-clock time or talked nonsense."""


class MediaCancelled(MediaError):
    """The caller asked for the task to stop."""
