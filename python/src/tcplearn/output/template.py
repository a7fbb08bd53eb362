# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fill templates of pages in Markdown (Jinja2)."""

from pathlib import Path

from tcplearn.output.markdown import table_of


def filled(template: Path, **variables: object) -> str:
    """Return the text of the file `template` with `variables` filled in. In the template, table(head, rows)
    gives a Markdown table, unless a variable has this name. Raise jinja2.UndefinedError if a variable is
    missing."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(template.name).render({"table": table_of, **variables})
