"""`classify view`: the page about results, served on this machine while the run goes on."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from classify.adapters.cli.console import reported, say
from classify.adapters.cli.results_input import Labels, Results, SpecOption, check_results
from classify.errors import InvalidInput


@reported
def view(
    results: Results,
    labels: Labels = None,
    spec: SpecOption = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; by default any that is free.")
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Serve the page of `classify report` on this machine, and keep it up with the results."""
    from classify.adapters.report.live_results import LiveResults
    from classify.adapters.report.live_server import LiveServer
    from classify.spec import load_spec

    if results.is_dir() or not results.resolve().parent.is_dir():
        raise InvalidInput(f"results {str(results)!r} are no file, and there can be none")
    if results.exists():
        check_results(results)
    questions = None if spec is None else load_spec(spec).questions
    live = LiveResults(results, questions=questions, labels=labels)
    with LiveServer(live, port=port) as server:
        if not results.exists():
            say(f"{results} is not there yet: its rows are shown once they arrive")
        say("the page is at this address until Ctrl-C; whoever knows it can read the results")
        print(server.url, flush=True)
        if open_browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")
