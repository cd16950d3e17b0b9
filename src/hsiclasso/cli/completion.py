"""``hsiclasso completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]

_SHELLS = ("bash", "zsh", "fish")
#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Once, for all later shells:
  echo 'eval "$(hsiclasso completion bash)"' >> ~/.bashrc
  echo 'eval "$(hsiclasso completion zsh)"' >> ~/.zshrc
  hsiclasso completion fish > ~/.config/fish/completions/hsiclasso.fish
"""


@click.command(epilog=_EXAMPLES, no_args_is_help=True)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options and their values."""
    kind = get_completion_class(shell)
    assert kind is not None  # click knows all of them
    root = ctx.find_root()
    name = str(root.info_name)
    script = kind(root.command, {}, name, f"_{name.upper()}_COMPLETE")
    click.echo(script.source())
