"""Write every figure of the kinds' pages: ``python -m docs.site.figure``."""

from __future__ import annotations

from docs.site.figure.catalogue import FIGURES, FOLDER


def main() -> None:
    for name, drawn in FIGURES.items():
        path = FOLDER / f"{name}.svg"
        path.write_text(drawn(), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
