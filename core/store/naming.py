"""Change of what a model or a dataset is called."""

from __future__ import annotations

from core import names, policy
from core.errors import InputError
from core.names import Kind
from core.settings import Settings
from core.store.repository import Repository


def rename(kind: Kind, reference: str, name: str, settings: Settings, repository: Repository) -> None:
    """Keep a name that the user chose; "" brings back the one that follows from the reference.

    Raises:
        InputError: this server's visitors may not change names, the name is not one (``names.checked``), or it is what
            another one is called among the names in force.
    """
    policy.of(settings).check_change("names cannot be changed")
    if not name.strip():
        repository.give_name(kind, reference, "")
        return
    wanted, known = names.checked(name), names.current()
    others = known.models if kind is Kind.MODEL else known.datasets
    if any(wanted.casefold() == other.casefold() for at, other in others.items() if at != reference):
        raise InputError(f"another {kind} is called '{wanted}' already", expected="a name of its own")
    repository.give_name(kind, reference, wanted)
