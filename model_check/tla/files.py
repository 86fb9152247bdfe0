"""The two files of an export."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from files.reading import read_lines
from files.writing import write_whole
from model_check.errors import ModelCheckError
from model_check.tla.text import MARK

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.tla.module import TlaModule


def write_export(exported: TlaModule, folder: Path) -> tuple[Path, Path]:
    """Write the module and its configuration; each appears whole, or not at all.

    An export that is there already is replaced. What else lies in the folder is left alone.

    Returns
    -------
    tuple of Path
        The module, and the configuration.

    Raises
    ------
    ModelCheckError
        When the folder is a file, or a file of one of the names is there that no export wrote.
    OSError
        When the folder or a file cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        msg = f"{folder} is not a folder"
        raise ModelCheckError(msg)
    texts = {folder / f"{exported.name}.tla": exported.module, folder / f"{exported.name}.cfg": exported.config}
    for path in texts:
        if path.exists() and not _is_an_export(path):
            msg = f"{path} was not written by an export; move it away or name another folder"
            raise ModelCheckError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_whole(path, text)
    module, config = texts
    return module, config


def _is_an_export(path: Path) -> bool:
    if not path.is_file():
        return False
    return any(MARK.encode() in line for line in islice(read_lines(path), 2))
