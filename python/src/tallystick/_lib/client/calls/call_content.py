"""Requests about prompts and answers that the service keeps."""

from __future__ import annotations

from ....documents import CallContent
from ..service import Service, segment
from ..wire import Call


def get_call_content(service: Service, call_id: str) -> Call[CallContent]:
    return service.get(_path_of(call_id))


def delete_call_content(service: Service, call_id: str) -> Call[None]:
    return service.delete(_path_of(call_id), read=_nothing_in)


def _path_of(call_id: str) -> str:
    return f"/v1/compute/calls/{segment(call_id, 'call_id')}/content"


def _nothing_in(_: object) -> None:
    return None
