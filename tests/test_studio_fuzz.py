"""The studio answers any request as its OpenAPI document says, and never with a 5xx."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from conftest import many
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance
from studio_server import serving

from scdn.studio.app import create_app
from scdn.studio.settings import StudioSettings

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
schema = schemathesis.openapi.from_dict(create_app(StudioSettings(Path("runs"))).openapi())


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(StudioSettings(tmp_path_factory.mktemp("runs"))) as url:
        yield url


@schema.parametrize()
@settings(max_examples=many(200), deadline=None, suppress_health_check=list(HealthCheck))
def test_any_request_is_answered_as_documented(case, address):
    if "follow" in case.query or case.path in ("/api/events", "/api/points"):
        case.query["follow"] = "false"  # else the stream never ends
    case.call_and_validate(base_url=address, checks=CHECKS)
