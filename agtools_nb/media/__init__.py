"""Parts of a result that are no JSON: images, sound, files."""

from agtools_nb.media.part import Media, size_text
from agtools_nb.media.split import Parts, json_part, split

__all__ = ["Media", "Parts", "json_part", "size_text", "split"]
