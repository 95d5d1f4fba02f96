"""A graph of entries and links, as GraphML and as JSON: standard forms that any graph program reads."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from earnest.core import links
from earnest.core.entry import Entry, StoredEntry
from earnest.core.gist import gist
from earnest.core.settings import Settings
from earnest.graph.walking import reached
from earnest.ledger import walks
from earnest.protocols import Reading

_NODE: Final = (("label", "string"), ("kind", "string"), ("scope", "string"), ("standing", "string"), ("importance", "double"))
_EDGE: Final = (("kind", "string"), ("weight", "double"), ("reason", "string"), ("stated", "boolean"))


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two entries by their ids; `weight` as it is now, 0 to 1."""

    source: str
    target: str
    kind: str
    weight: float
    reason: str
    stated: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """Entries with the links between them. `more` says that there are links beyond the limit."""

    entries: tuple[Entry, ...]
    edges: tuple[Edge, ...]
    more: bool = False

    def json(self) -> str:
        """As JSON, in the form of nodes and edges that D3, Cytoscape and NetworkX read (`node_link_graph`)."""
        return json.dumps(self.node_link(), ensure_ascii=False, allow_nan=False)

    def node_link(self) -> dict[str, Any]:
        """What `json` writes, as plain values."""
        nodes = [{"id": e.id, **{name: _of(e, name) for name, _ in _NODE}} for e in self.entries]
        edges = [{"source": e.source, "target": e.target, **{name: getattr(e, name) for name, _ in _EDGE}} for e in self.edges]
        return {"directed": False, "multigraph": True, "nodes": nodes, "edges": edges}

    def graphml(self) -> str:
        """As GraphML 1.0, undirected, in ASCII; control characters, which XML cannot hold, are left out of the texts."""
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
        for of, keys in (("node", _NODE), ("edge", _EDGE)):
            lines += [f'  <key id="{of}_{name}" for="{of}" attr.name="{name}" attr.type="{type}"/>' for name, type in keys]
        lines.append('  <graph id="memory" edgedefault="undirected">')
        for entry in self.entries:
            lines.append(f"    <node id={quoteattr(entry.id)}>")
            lines += [f'      <data key="node_{name}">{_xml(_of(entry, name))}</data>' for name, _ in _NODE]
            lines.append("    </node>")
        for edge in self.edges:
            lines.append(f"    <edge source={quoteattr(edge.source)} target={quoteattr(edge.target)}>")
            lines += [f'      <data key="edge_{name}">{_xml(getattr(edge, name))}</data>' for name, _ in _EDGE]
            lines.append("    </edge>")
        return "\n".join((*lines, "  </graph>", "</graphml>", "")).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _of(entry: Entry, name: str) -> Any:
    return gist(entry.text) if name == "label" else getattr(entry, name)


def _xml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    # XML 1.0 has no control characters, not even escaped; the others would steer a terminal that this is printed on.
    return escape("".join(" " if unicodedata.category(c) == "Cc" else c for c in str(value) if c not in "\ufffe\uffff"))


def graph_of(reading: Reading, settings: Settings, start: StoredEntry | None, hops: int, limit: int, now: datetime) -> Graph:
    """The graph around an entry, or all of it. O(its links)."""
    if start is None:
        found = [*islice(walks.links(reading), limit + 1)]
    else:
        rows = [start.row, *reached(reading, settings, start, hops, links.KINDS, now)]
        here = set(rows)
        found = [link for link in reading.links_of(rows) if link.entry in here and link.other in here]
    kept = found[:limit]
    named = dict.fromkeys(row for link in kept for row in (link.entry, link.other))
    if start is not None:
        named.setdefault(start.row)
    entries = {stored.row: stored.entry for stored in reading.entries([*named])}
    edges = tuple(
        Edge(
            entries[link.entry].id, entries[link.other].id, link.kind, links.weight(link, now, settings.decay_half_life), link.reason,
            link.stated,
        )
        for link in kept
    )  # fmt: skip
    return Graph(tuple(entries.values()), edges, len(found) > limit)
