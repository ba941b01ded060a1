"""``reflexion config schema`` and ``reflexion prompts show``: what can be set, and the words in force."""

from typing import TYPE_CHECKING

import typer

from reflexion import options
from reflexion.errors import UsageError

if TYPE_CHECKING:
    from reflexion.config import LoadedConfig


def config_schema() -> None:
    """Print the JSON Schema of config.json."""
    from reflexion.config import schema_text

    typer.echo(schema_text(), nl=False)


def prompts_show(pipeline: options.PipelineName = "docs", config: options.Config = None) -> None:
    """Print the words in force for a pipeline, docs or code, as a TOML file that can be edited and used."""
    from reflexion.config import PIPELINE_ROLES, load_config
    from reflexion.prompts import as_toml, load_prompts, prompts_folder

    if pipeline not in PIPELINE_ROLES:
        raise UsageError(f'there is no pipeline "{pipeline}"; valid are {", ".join(PIPELINE_ROLES)}')
    loaded: LoadedConfig = load_config(config, {}, {})
    typer.echo(as_toml(load_prompts(pipeline, prompts_folder(loaded))), nl=False)
