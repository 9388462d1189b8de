"""Names of static files in a deployment."""

import re
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from reasonaudit.lib.static_files import HashedStaticFilesStorage


@pytest.fixture
def storage(tmp_path: Path, settings) -> HashedStaticFilesStorage:
    settings.STATIC_ROOT = tmp_path
    return HashedStaticFilesStorage(location=str(tmp_path), base_url="/static/")


def test_files_that_vite_named_keep_their_names_and_others_get_a_hash(storage) -> None:
    entry = 'import{a}from"./parts-BUKI1Ish.js";a();'
    files = {
        "assets/main-CxwGgu_Q.js": entry,
        "assets/parts-BUKI1Ish.js": 'import"./main-CxwGgu_Q.js";export const a=1;',
        "assets/main-tDodiLFW.css": "@font-face{src:url(./inter-BOeWTOD4.woff2)}",
        "assets/inter-BOeWTOD4.woff2": "font",
        "icons.svg": "<svg/>",
    }
    for name, text in files.items():
        storage.save(name, ContentFile(text.encode()))
    for _name, _hashed, processed in storage.post_process({name: (storage, name) for name in files}):
        assert not isinstance(processed, Exception), processed
    for name in files:
        if name.startswith("assets/"):
            assert storage.url(name) == f"/static/{name}"
    assert re.fullmatch(r"/static/icons\.[0-9a-f]{12}\.svg", storage.url("icons.svg"))
    assert storage.open("assets/main-CxwGgu_Q.js").read().decode() == entry
    assert "inter-BOeWTOD4.woff2" in storage.open("assets/main-tDodiLFW.css").read().decode()


def test_a_missing_file_is_an_error(storage) -> None:
    with pytest.raises(ValueError, match="could not be found"):
        storage.hashed_name("assets/gone.js")
