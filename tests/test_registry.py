"""Things by name: registered, or imported as `package.module:NAME`."""

from __future__ import annotations

import pytest

from scdn.errors import InputError
from scdn.registry import Registry, import_object


class Base:
    def __init__(self, name="base"):
        self.name = name


class Derived(Base):
    name = "derived"


@pytest.fixture
def instances():
    registry = Registry("thing", Base)
    registry.register(Base("first"))
    registry.register(Derived("second"))
    return registry


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """A function that writes a module with this text and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


def test_names_and_entries_keep_their_order(instances):
    assert instances.names() == ("first", "second")
    assert [type(entry) for entry in instances] == [Base, Derived]
    assert instances.get("second") is list(instances)[1]


def test_registering_again_replaces(instances):
    other = instances.register(Derived("first"))
    assert instances.get("first") is other
    assert instances.names() == ("first", "second")


@pytest.mark.parametrize("name", ["", "a:b"])
def test_names_that_cannot_be_asked_for_are_refused(instances, name):
    with pytest.raises(InputError, match="without a colon"):
        instances.register(Base(name))


def test_only_the_right_kind_is_registered(instances):
    with pytest.raises(InputError, match="is the class Derived, must be an instance of Base"):
        instances.register(Derived)
    classes = Registry("kind", Base, of_classes=True)
    assert classes.register(Derived) is Derived
    with pytest.raises(InputError, match="is a Base, must be a subclass of Base"):
        classes.register(Base("instance"))


def test_an_object_is_imported_by_its_module(instances, user_module):
    name = user_module("registry_good", "from test_registry import Base\nTHING = Base()\n")
    assert type(instances.get(f"{name}:THING")) is Base
    assert import_object("collections:OrderedDict.fromkeys", "thing")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frist", 'got "frist", did you mean first'),
        ("nothing", "must be one of first, second, or package.module:NAME"),
        (":THING", "must be package.module:NAME"),
        ("math:", "must be package.module:NAME"),
        ("no_such.module:X", "there is no module no_such, run scdn in its folder"),
        ("collections.nothing:X", "there is no module collections.nothing"),
        ("math:cso", "there is no cso, did you mean cos"),
        ("math:pi", "math:pi is a float, must be an instance of Base"),
        ("collections:OrderedDict", "is the class OrderedDict"),
    ],
)
def test_every_failure_says_what_to_do(instances, name, message):
    with pytest.raises(InputError, match=message) as error:
        instances.get(name)
    assert len(error.value.lines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_dependency", "no module no_such_dependency, install it"),
        ("1 / 0", "fails on import .ZeroDivisionError"),
        ("import sys; sys.exit(3)", "fails on import .SystemExit"),
        ("def broken(:", "fails on import .SyntaxError"),
    ],
)
def test_a_module_that_fails_is_named(instances, user_module, text, message):
    name = user_module(f"registry_bad_{abs(hash(text))}", text)
    with pytest.raises(InputError, match=message) as error:
        instances.get(f"{name}:THING")
    assert len(error.value.lines()) == 1
