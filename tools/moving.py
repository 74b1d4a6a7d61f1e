"""A moving picture of several PNGs: an animated PNG, which a browser shows wherever it
shows a picture."""

import struct
import zlib
from collections.abc import Iterator, Sequence

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def animated(pictures: Sequence[bytes], seconds: float) -> bytes:
    """One PNG that shows each of these for so many seconds, three times over, and
    stops.

    Raises:
        ValueError: if they have not one size and kind.

    >>> header = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    >>> dots = [_chunk(b"IDAT", zlib.compress(dot)) for dot in (b"\\0\\0", b"\\0\\xff")]
    >>> images = [_SIGNATURE + header + dot for dot in dots]
    >>> [kind.decode() for kind, _ in _chunks(animated(images, seconds=0.5))]
    ['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'IEND']
    """
    headers = [
        next(data for kind, data in _chunks(picture) if kind == b"IHDR")
        for picture in pictures
    ]
    if len(set(headers)) != 1:
        raise ValueError(
            "a moving picture needs pictures of one size and kind; got"
            f" {len(set(headers))} kinds"
        )
    parts = [
        _SIGNATURE,
        _chunk(b"IHDR", headers[0]),
        _chunk(b"acTL", struct.pack(">II", len(pictures), 3)),
    ]
    number = 0  # of every fcTL and fdAT, together
    for place, picture in enumerate(pictures):
        # One stream may be cut into several chunks; together they pack better.
        stream = b"".join(data for kind, data in _chunks(picture) if kind == b"IDAT")
        data = zlib.compress(zlib.decompress(stream), 9)
        width, height = struct.unpack(">II", headers[0][:8])
        control = struct.pack(
            ">IIIIIHHBB",
            number,
            width,
            height,
            0,  # at the left
            0,  # at the top
            round(1000 * seconds),
            1000,  # the delay is in thousandths of a second
            0,  # the picture stays until the next one
            0,  # which replaces all of it
        )
        parts.append(_chunk(b"fcTL", control))
        # The first one is an IDAT, which has no number: what knows no motion shows it.
        if place:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number + 1) + data))
            number += 2
        else:
            parts.append(_chunk(b"IDAT", data))
            number += 1
    return b"".join([*parts, _chunk(b"IEND", b"")])


def dragged(page: object, panel: str, name: str) -> list[bytes]:
    """Pictures of the first such panel of a page while a slider is dragged from end to
    end, and back.

    Args:
        page: of Playwright.
        panel: a CSS selector.
        name: of the slider, as it stands beside it.
    """
    here = page.locator(panel).first
    slider = here.locator(".widget-slider:visible", has_text=name)
    handle = slider.locator(".noUi-handle")
    track = slider.locator(".noUi-target").bounding_box()
    steps = int(
        float(handle.get_attribute("aria-valuemax"))
        - float(handle.get_attribute("aria-valuemin"))
    )
    box = here.bounding_box()
    box["height"] += 20  # a longer description needs a line more
    pictures = []
    handle.hover()
    page.mouse.down()
    for step in range(steps + 1):
        page.mouse.move(
            track["x"] + track["width"] * step / steps,
            track["y"] + track["height"] / 2,
            steps=5,
        )
        page.wait_for_timeout(1500)
        pictures.append(page.screenshot(clip=box))
    page.mouse.up()
    # Back without the two ends, which would be shown twice.
    return pictures + pictures[-2:0:-1]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return (
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(_SIGNATURE)
    while place < len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        place += 12 + length  # length, kind and checksum have four bytes each
