"""A tool's card: what it takes, its schema, and what each provider is sent for it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from agtools_nb.define import PROVIDERS, Tool, declaration
from agtools_nb.errors import AgtoolsError
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.describe import tool_data
from agtools_nb.views.markup import Html, code, details, join, pre, table, tag, text_table

PROVIDER_TITLES = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "mcp": "MCP",
}


class CardView(View):
    """Shows one tool.

    Args:
        scheduler: Where updates run.
        tool: The tool.
    """

    _view: ClassVar[str] = "card"

    def __init__(self, scheduler: Scheduler, tool: Tool) -> None:
        self._tool = tool
        super().__init__(scheduler)

    def snapshot(self) -> dict[str, Any]:
        """Return the tool and, as indented JSON text, its schemas and wire forms."""
        return {**tool_data(self._tool), "texts": self._texts()}

    def _texts(self) -> list[dict[str, str]]:
        tool = self._tool
        try:
            texts = [("JSON Schema", tool.input_schema)]
            if tool.response_schema is not None:
                texts.append(("Result", tool.response_schema))
            texts += [
                (PROVIDER_TITLES[provider], declaration(tool, provider)) for provider in PROVIDERS
            ]
        except AgtoolsError:
            return []  # tool_data says why
        return [{"title": title, "text": _json(value)} for title, value in texts]

    def headline(self) -> str:
        """Return the tool's name and what it does."""
        about = self._tool.description.strip().partition("\n")[0]
        return f"{self._tool.name}: {about}" if about else self._tool.name

    def static_html(self) -> str:
        """Return the card with its JSON folded."""
        data = self.snapshot()
        flags = [*data["flags"], *(f"scope {scope}" for scope in data["scopes"])]
        return tag(
            "div",
            tag("h4", data["name"]),
            _paragraphs(data["description"]),
            tag("p", data["fault"]) if data["fault"] else None,
            self._parameters_html(data["parameters"]),
            tag("p", tag("small", " · ".join([*flags, f"defined in {data['origin']}"]))),
            [details(one["title"], pre(one["text"], 8_000)) for one in data["texts"]],
        )

    def _parameters_html(self, parameters: list[dict[str, Any]]) -> Html:
        if not parameters:
            return tag("p", "Takes no arguments.")
        head = ("Parameter", "Type", "Default", "Bounds", "Description")
        return table(
            head,
            (
                (
                    [code(p["name"]), None if p["required"] else tag("small", " optional")],
                    p["type"],
                    None if p["default"] is None else code(p["default"]),
                    p["bounds"],
                    p["description"],
                )
                for p in parameters
            ),
        )

    def static_text(self) -> str:
        """Return name, description and parameters."""
        data = self.snapshot()
        parameters = text_table(
            ("parameter", "type", "default", "bounds", "description"),
            (
                (
                    p["name"] + ("" if p["required"] else "?"),
                    p["type"],
                    p["default"] or "",
                    p["bounds"],
                    p["description"],
                )
                for p in data["parameters"]
            ),
        )
        parts = [data["name"], data["description"], data["fault"] or "", parameters]
        return "\n\n".join(part for part in (*parts, f"defined in {data['origin']}") if part)


def _paragraphs(text: str) -> Html:
    return join([tag("p", part) for part in text.split("\n\n") if part.strip()])


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
