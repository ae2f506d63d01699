"""`classify models`: which models can be named, what is here for them, and what they can do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import reported, say, show, show_json
from classify.adapters.cli.field_options import AsJson
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from rich.table import Table

    from classify.language_model import Capabilities, LanguageModel
    from classify.providers import ProviderDescription

app = typer.Typer(
    help="Models: list them, fetch the embedded one, probe one.", no_args_is_help=False
)


@app.callback(invoke_without_command=True)
@reported
def models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the providers, whose keys are set, and whether the embedded model is here."""
    if context.invoked_subcommand is not None:
        return
    from classify.adapters.models.weights import find
    from classify.providers import describe_providers

    providers, weights = describe_providers(), find()
    if as_json:
        show_json(
            {
                "providers": [asdict(provider) for provider in providers],
                "local_weights": None if weights is None else str(weights),
            }
        )
        return
    show(_table(providers))
    if weights is None:
        print("The embedded model's weights are not here: classify models fetch local")
    else:
        print(f"The embedded model's weights: {weights}")


@app.command()
@reported
def fetch(
    name: Annotated[str, typer.Argument(metavar="local", help="The model to fetch.")],
) -> None:
    """Download the embedded model's weights into the user's cache, once."""
    from classify.adapters.models import eight_bits, weights

    if name != "local":
        raise InvalidInput(f"only the embedded model, 'local', can be fetched, got {name!r}")
    published = weights.fetch(say)
    if eight_bits.to_be_made():
        say("storing the weights at 8 bits, once: twice as fast")
    print(eight_bits.fastest(published)[0])


@app.command()
@reported
def probe(
    name: Annotated[str, typer.Argument(metavar="PROVIDER/MODEL", help="The model to ask.")],
    as_json: AsJson = False,
) -> None:
    """Find out what a model can do; an endpoint is sent a request or two of one token."""
    from classify.language_model import LanguageModel
    from classify.providers import resolve_model

    model = resolve_model(name)
    if not isinstance(model, LanguageModel):
        raise InvalidInput(f"{name!r} answers questions itself: there is nothing to probe")
    facts = _facts(asyncio.run(_capabilities(model)))
    if as_json:
        print(json.dumps(facts))
        return
    for label, value in facts.items():
        print(f"{label}: {value}")


async def _capabilities(model: LanguageModel) -> Capabilities:
    try:
        return await model.capabilities()
    finally:
        await model.aclose()


def _facts(found: Capabilities) -> dict[str, object]:
    return {
        "alternatives shown at a position": found.top_logprobs,
        "scores given texts exactly": found.scores_text,
        "prompt forms": sorted(found.forms),
        "prompt form used": found.form,
        "readouts used": dict(found.readouts),
        "neutral temperature": found.temperature,
        "tokenizer": found.tokenizer,
    }


def _table(providers: tuple[ProviderDescription, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("provider", "key", "address"):
        table.add_column(title, overflow="fold")
    for provider in providers:
        table.add_row(Text(provider.name), _key(provider), Text(provider.base_url))
    return table


def _key(provider: ProviderDescription) -> str:
    if provider.key_variable is None or (provider.local and not provider.key_set):
        return "none needed"
    return f"{provider.key_variable} {'set' if provider.key_set else 'not set'}"
