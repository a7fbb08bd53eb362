# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the settings of `tcplearn live start` from a file, such as /etc/tcplearn/live.toml for systemd."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tcplearn.errors import UserError, printable


class SettingsFile(BaseModel):
    """The options of `tcplearn live start` by their names, with "_" in place of "-"."""

    model_config = ConfigDict(extra="forbid", strict=True)

    cgroup: str = ""
    unit: str = ""
    ramp: Literal["steps", "none"] = "steps"
    control_percent: Annotated[float, Field(ge=0, le=99, strict=False)] = 5.0
    backoff: Literal["bounded", "kernel"] = "kernel"
    first_rto: str = ""
    kill_switch: str = ""


def read(path: Path) -> SettingsFile:
    """Return the settings in the TOML file `path`. Raise UserError."""
    name = printable(path)
    try:
        return SettingsFile.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{name}: not TOML: {printable(str(error))}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        known = ", ".join(SettingsFile.model_fields)
        raise UserError(
            f"{name}: {printable(where)}: {first['msg'].lower()}; the settings are {known}"
        ) from error
