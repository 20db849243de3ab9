"""Objects like the clicked ones: `find_clicked` on the clicks of the page, and what can be saved of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from imtorque.detection import Blobs, ObjectFinder
from imtorque.detection.clicks import Click, find_clicked, trained_on_clicks, usual_diameter
from imtorque.explorer.image_store import StoredImage
from imtorque.explorer.settings import Settings

Clicked = tuple[StoredImage, tuple[Click, ...]]


def clicked_images(image: StoredImage, settings: Settings) -> list[Clicked]:
    """Return the images with clicks, and this one last."""
    images = (*settings.training_images, image)
    for stored, clicks in zip(images, settings.annotations_by_image, strict=True):
        height, width = stored.shape
        if any(click.y >= height or click.x >= width for click in clicks):
            raise ValueError(f"annotations must lie in the image of {height} x {width}, got one outside")
        if stored.factor != image.factor:
            raise ValueError(
                f"annotated images must be shrunk alike, got {stored.name} by {stored.factor} and "
                f"{image.name} by {image.factor}"
            )
    if not settings.has_objects:
        raise ValueError("annotations must have an object, got none")
    return list(zip(images, settings.annotations_by_image, strict=True))


def objects_of(image: StoredImage, settings: Settings) -> Blobs:
    """Return the objects found in the image as it is shown."""
    *others, (_, clicks) = clicked_images(image, settings)
    return find_clicked(
        image.image,
        clicks,
        [(other.image, own) for other, own in others],
        min_score=settings.min_score,
        remember=lambda key, compute: image.cached((key, settings.training), compute),
    )


def whole_objects_of(image: StoredImage, settings: Settings) -> Blobs:
    """Return the objects in pixels of the image as it was opened."""
    return objects_of(image, settings).enlarged(image.factor, image.original_shape)


def objects_table(image: StoredImage, settings: Settings) -> str:
    """Return the objects as a table in pixels of the image as it was opened, and in micrometres where known."""
    found, side = whole_objects_of(image, settings), settings.pixel_size
    if side is None:
        return found.to_csv()
    columns = {f"{name}_um": getattr(found, name) * side for name in ("y", "x", "diameter")}
    columns["area_um2"] = found.area * side**2
    head, *rows = found.to_csv().splitlines()
    lengths = zip(*columns.values(), strict=True)
    lines = [",".join([row, *(f"{v:.6g}" for v in own)]) for row, own in zip(rows, lengths, strict=True)]
    return "\n".join([",".join([head, *columns]), *lines, ""])


def finder_of(image: StoredImage, settings: Settings) -> ObjectFinder:
    """Return the finder trained by the clicks in this image and in those before it; it takes images as opened."""
    *others, (_, clicks) = clicked_images(image, settings)

    trained = image.cached(
        (("finder", settings.annotations), settings.training),
        lambda: trained_on_clicks(image.image, clicks, [(other.image, own) for other, own in others]),
    )
    finder = trained.with_threshold(
        trained.best_params_.threshold if settings.min_score is None else settings.min_score
    )
    finder.reduce = image.factor
    return finder


def finder_file(image: StoredImage, settings: Settings) -> bytes:
    """Return the finder as `imtorque count --model` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "objects.finder"
        finder_of(image, settings).save(path)
        return path.read_bytes()


def annotations_table(image: StoredImage, settings: Settings) -> str:
    """Return the clicks as a table that `imtorque train-detector --clicks` reads, in pixels of the image as opened."""
    clicked = clicked_images(image, settings)
    if len({(stored.plane.page, stored.plane.channel) for stored, _ in clicked}) > 1:
        raise ValueError("clicks of a table must be in one page and channel of a file, got several: save the finder")
    usual = usual_diameter([own for _, own in clicked])
    factor = image.factor
    lines = ["image,y,x,wrong,reduce" if usual is None else "image,y0,x0,y1,x1,wrong,reduce"]
    for stored, own in clicked:
        name = Path(stored.name).name.replace('"', "")
        for click in sorted(own, key=lambda click: click.negative):
            if usual is None:
                numbers = [place * factor + (factor - 1) / 2 for place in (click.y, click.x)]
            elif click.negative:
                numbers = [factor * side for side in (click.y, click.x, click.y + 1, click.x + 1)]
            else:
                numbers = [factor * side for side in click.box(usual)]
            lines.append(f'"{name}",{",".join(f"{n:g}" for n in numbers)},{int(click.negative)},{factor}')
    return "\n".join(lines) + "\n"


def count_code(image: StoredImage, settings: Settings) -> list[str]:
    """Return the lines of Python that count as the page does."""
    *others, (_, clicks) = clicked_images(image, settings)
    lines, learned = ["", "# Objects like the clicked ones; each click is y, x, diameter (0: unknown), no object."], []
    for number, (other, own) in enumerate(others, 1):
        lines += ["current = image", *other.recipe, f"image_{number} = image", "image = current"]
        learned.append(f"(image_{number}, {_code(own)})")
    lines += [f"clicks = {_code(clicks)}", f"others = [{', '.join(learned)}]"]
    given = "" if settings.min_score is None else f", min_score={settings.min_score:g}"
    lines += [f"found = imtorque.detection.find_clicked(image, clicks, others{given})"]
    if image.factor > 1:
        lines.append(f"found = found.enlarged({image.factor}, {image.original_shape})  # in pixels of the whole image")
    return [*lines, 'print(f"{len(found)} objects")', "print(found.to_csv())"]


def _code(clicks: tuple[Click, ...]) -> str:
    return repr([tuple(click) for click in clicks])
