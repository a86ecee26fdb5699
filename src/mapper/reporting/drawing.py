"""Elements of a page as trees: text is text whatever it holds, pictures are SVG whose figures are text."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markupsafe import Markup

from mapper.workloads.text.plain_text import plain as plain_text

LONGEST = 80
"""Characters of a name that are shown."""


LEAST = 0.66
"""How far pictures shrink on a narrow page before they are moved sideways."""


def plain(text: str, longest: int = LONGEST) -> str:
    """A name as text: no control or invisible characters, none that change the direction of what follows."""
    return plain_text(text, longest, "\N{REPLACEMENT CHARACTER}")


def node(tag: str, *children: Element | str, **attributes: object) -> Element:
    """An element; ``class_`` and ``data_x`` stand for ``class`` and ``data-x``, None leaves an attribute out."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    made = Element(tag, {key: _text(value) for key, value in named.items() if value is not None})
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + _text(child)
        else:
            made.text = (made.text or "") + _text(child)
    return made


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    # Long values are built here (paths, sentences); names are cut where they enter.
    return plain(str(value), 1 << 20)


def svg(width: float, height: float, label: str, *children: Element, **attributes: object) -> Element:
    """A picture of this size in pixels; ``label`` is what it shows, for those who do not see it."""
    return node(
        "svg",
        *children,
        **{
            "viewBox": f"0 0 {width:g} {height:g}",
            "width": width,
            "height": height,
            # On a telephone pictures shrink as far as their text can still be read.
            "style": f"min-width: {LEAST * width:.0f}px",
            "role": "group",
            "aria-label": label,
            **attributes,
        },
    )


def embedded(text: str, label: str, prefix: str) -> Element:
    """An SVG document as an element of a page: without metadata, and with identifiers of its own."""
    root = ElementTree.fromstring(text)
    used = {part.split(")")[0] for part in text.split("url(#")[1:]}
    used |= {part.split('"')[0] for part in text.split('href="#')[1:]}
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key, value in list(element.attrib.items()):
            del element.attrib[key]
            name = key.rpartition("}")[2]
            if name == "id" and value not in used:
                continue
            element.set(name, _own(name, value, prefix))
    if root.get("viewBox") is None:
        root.set("viewBox", f"0 0 {root.get('width')} {root.get('height')}")
    root.set("style", f"min-width: {LEAST * float(root.get('viewBox', '').split()[2]):.0f}px")
    root.set("role", "group")
    root.set("aria-label", plain(label, 400))
    return root


def _own(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    return value.replace("url(#", f"url(#{prefix}")


def markup(*elements: Element) -> Markup:
    """Elements as part of a page."""
    return Markup(
        "".join(ElementTree.tostring(element, encoding="unicode", method="html") for element in elements)
    )


def table(
    heading: list[str], rows: list[list[str]], caption: str | None = None, **attributes: object
) -> Element:
    """A table: the first column names its rows."""
    head = node("thead", node("tr", *(node("th", cell, scope="col") for cell in heading)))
    body = node("tbody")
    for row in rows:
        cells = [node("td", cell) for cell in row[1:]]
        body.append(node("tr", node("th", row[0], scope="row"), *cells))
    titled = [node("caption", caption)] if caption else []
    return node("div", node("table", *titled, head, body, **attributes), class_="wide", tabindex=0)


def figure(picture: Element, caption: str, **attributes: object) -> Element:
    """A picture with what it shows below it; wide ones scroll."""
    frame = node("div", picture, class_="wide", tabindex=0, role="region", aria_label=caption)
    return node("figure", frame, node("figcaption", caption), **attributes)


def routes_drawn(elements: Iterable[Element]) -> int:
    """Routes that pictures hold: of these a page draws no more than it has room for."""
    return sum(part.get("class") == "route" for element in elements for part in element.iter())
