"""Checks of installed versions against the pins, and of the environment variables."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from rapidfuzz import process
from rapidfuzz.distance import OSA

import blindspot
from blindspot.doctor.findings import Finding, note, ok, problem, problem_of, size
from blindspot.errors import DISTRIBUTION, BlindspotError, InputError, install, is_pinned, reinstall
from blindspot.settings import READ_ONLY, ROOT, VARIABLES, Settings

VERSIONS = "versions"
SETTINGS = "settings"
REQUIREMENTS = ROOT / "requirements.txt"
BACKENDS = ROOT / "requirements-backends.txt"
CLUSTER = ROOT / "requirements-cluster.txt"
OPTIONAL = {BACKENDS: "?backend=, adapters", CLUSTER: "sweep --on"}  # what they are for
OLDEST, FIRST_TOO_NEW = (3, 11), (3, 14)
PYTHONS = "Python 3.11, 3.12 or 3.13"
OF_THE_TESTS = ("BLINDSPOT_CHROMIUM",)  # read by tests/browser, not by Settings
LARGEST_TYPO = 2  # wrong letters in a variable's name
NAMES_SHOWN = 5


def python(
    version: tuple[int, ...] = tuple(sys.version_info[:3]),
    prefix: str = sys.prefix,
    base_prefix: str = sys.base_prefix,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Finding]:
    """The interpreter and its environment."""
    shown = ".".join(str(part) for part in version)
    if OLDEST <= version[:2] < FIRST_TOO_NEW:
        yield ok(VERSIONS, "python", f"{shown}, {sys.executable}")
    else:
        remedy = "set it up anew with one of them: make clean run PYTHON=python3.12"
        yield problem(VERSIONS, "python", f"{sys.executable} is Python {shown}; expected {PYTHONS}", remedy)
    if prefix == base_prefix and not (environment or {}).get("CONDA_PREFIX"):
        what = f"this Python is in no virtual environment: {prefix} is shared with other programs"
        remedy = "keep Blindspot's libraries apart: make run makes .venv, then use .venv/bin/python"
        yield note(VERSIONS, "environment", what, remedy)
    yield from _package()


def _package() -> Iterator[Finding]:
    """This package, and another distribution that brings one of the same name."""
    if version := installed_version("blindspot"):
        what = f"the distribution blindspot {version} writes into the same folder as {DISTRIBUTION}"
        again = "pip install -e . --no-deps" if is_pinned() else reinstall(DISTRIBUTION)
        remedy = f"{sys.executable} -m pip uninstall blindspot, then {sys.executable} -m {again}"
        yield problem(VERSIONS, "blindspot", what, remedy)
    else:
        yield ok(VERSIONS, "blindspot", f"{blindspot.__version__}, {ROOT}")


def installed(path: Path = REQUIREMENTS) -> Iterator[Finding]:
    """What is installed against the pins of a checkout, or against the ranges of the installed package."""
    if path.is_file() or is_pinned():
        yield from requirements(path)
        for file, use in OPTIONAL.items():
            yield from optional(file, use)
    else:
        try:
            package = metadata.distribution(DISTRIBUTION)
        except metadata.PackageNotFoundError as error:
            raise BlindspotError(
                "nothing says which libraries Blindspot needs: its metadata are gone", remedy="install it with pip"
            ) from error
        yield from ranges(package)


def ranges(package: metadata.Distribution) -> Iterator[Finding]:
    """The ranges that an installed package declares; an extra that is not installed is no fault."""
    declared = [Requirement(line) for line in package.requires or ()]
    extras = package.metadata.get_all("Provides-Extra") or []
    seen: set[str] = set()
    for extra in ("", *extras):
        absent = []
        for requirement in declared:
            is_of_it = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
            if requirement.name == package.name or str(requirement) in seen or not is_of_it:
                continue
            seen.add(str(requirement))
            if not installed_version(requirement.name) and extra:
                absent.append(requirement.name)
            else:
                yield _in_range(requirement)
        if absent:
            yield ok(VERSIONS, f"extra {extra}", f"optional, not installed: {', '.join(absent)}; {install(extra)}")


def _in_range(wanted: Requirement) -> Finding:
    version = installed_version(wanted.name)
    if version and wanted.specifier.contains(version, prereleases=True):
        return ok(VERSIONS, wanted.name, version)
    what = f"{'not installed' if version == '' else version or 'half installed'}; expected {wanted.specifier}"
    remedy = f'{shlex.quote(sys.executable)} -m pip install "{wanted.name}{wanted.specifier}"'
    return problem(VERSIONS, wanted.name, what, remedy)


def requirements(path: Path = REQUIREMENTS) -> Iterator[Finding]:
    """The pins of a requirements file and of ``constraints.txt`` next to it, against the installed metadata.

    Raises:
        BlindspotError: the file is missing, or a line is not a pin.
    """
    remedy = f"{shlex.quote(sys.executable)} -m pip install -r {shlex.quote(str(path))}"
    for name, pin in pins(path).items():
        installed = installed_version(name)
        if installed == "":
            yield problem(VERSIONS, name, f"not installed; expected {pin}", remedy)
        elif installed is None:
            what = f"its metadata name no version: half of it is installed; expected {pin}"
            again = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps {name}=={pin}"
            yield problem(VERSIONS, name, what, again)
        elif _public(installed) != _public(pin):
            yield problem(VERSIONS, name, f"{installed}; expected {pin}", remedy)
        else:
            yield ok(VERSIONS, name, installed)
    constraints = path.with_name("constraints.txt")
    if constraints.is_file():
        yield _indirect(constraints, remedy)


def optional(path: Path, use: str) -> Iterator[Finding]:
    """Optional packages and their uses; a package that is not installed is no fault."""
    remedy = f"{shlex.quote(sys.executable)} -m pip install -r {shlex.quote(str(path))}"
    for name, pin in pins(path).items():
        installed = installed_version(name)
        if installed == "":
            yield ok(VERSIONS, name, f"not installed; optional, for {use}: {remedy}")
        elif installed is None or _public(installed) != _public(pin):
            yield note(VERSIONS, name, f"{installed or 'damaged metadata'}; tested with {pin}", remedy)
        else:
            yield ok(VERSIONS, name, f"{installed}, for {use}")


def _indirect(constraints: Path, remedy: str) -> Finding:
    """The indirect requirements; one that is not installed may be for another system."""
    expected = pins(constraints)
    installed = {name: installed_version(name) for name in expected}
    differing = [
        f"{name} {version} (expected {expected[name]})"
        for name, version in installed.items()
        if version and _public(version) != _public(expected[name])
    ]
    if not differing:
        return ok(VERSIONS, "what they pull in", f"{sum(map(bool, installed.values()))} packages, as pinned")
    more = f" and {len(differing) - NAMES_SHOWN} more" if len(differing) > NAMES_SHOWN else ""
    what = f"not as pinned: {', '.join(differing[:NAMES_SHOWN])}{more}; scores may differ in their last digits"
    return note(VERSIONS, "what they pull in", what, remedy)


def pins(path: Path) -> dict[str, str]:
    """Version by package of a requirements file, ignoring options (``-c``, ``-r``).

    Raises:
        BlindspotError: it is missing, or a line is not a pin.
    """
    if not path.is_file():
        raise BlindspotError(f"there is no {path}", remedy="get it back with: git checkout -- requirements.txt")
    versions = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text or text.startswith("-"):
            continue
        try:
            requirement = Requirement(text)
            (pin,) = requirement.specifier
            is_pin = pin.operator == "=="
        except (InvalidRequirement, ValueError):  # ValueError: no version, or several
            is_pin = False
        if not is_pin:
            raise BlindspotError(
                f"{path}, line {number}: '{text}'", expected="NAME==VERSION", remedy="correct the line"
            )
        versions[requirement.name] = pin.version
    return versions


def installed_version(name: str) -> str | None:
    """The version of an installed package; "" if there is none, None if its metadata are damaged."""
    try:
        return metadata.version(name) or None
    except metadata.PackageNotFoundError:
        return ""
    except KeyError:  # in some Python versions
        return None


def _public(version: str) -> str:
    """A version without its build tag, such as ``+cpu``."""
    return version.partition("+")[0]


def usable_settings(environment: Mapping[str, str]) -> Settings:
    """Settings with defaults in place of invalid values, so that everything else can be checked."""
    values = {name: environment.get(name, "") for name in VARIABLES}
    return Settings.from_environment({name: v for name, v in values.items() if _refusal(name, v) is None})


def variables(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Every ``BLINDSPOT_*`` variable, including misspelled ones that nothing reads."""
    settings = usable_settings(environment)
    in_use = {
        "BLINDSPOT_CACHE": str(settings.cache),
        "BLINDSPOT_CACHE_LIMIT": "none" if settings.cache_limit is None else size(settings.cache_limit),
        "BLINDSPOT_MIRROR": without_password(settings.mirror) or "files come from their public sources",
        "BLINDSPOT_STORE": READ_ONLY if settings.read_only else "read and written",
        "BLINDSPOT_DEVICE": settings.device,
        "BLINDSPOT_RAY": settings.ray or "runs are computed on this machine",
        "BLINDSPOT_RAY_FOLDER": without_password(settings.ray_folder) or f"{settings.packs}",
        "BLINDSPOT_MODE": settings.mode.value,
        "BLINDSPOT_HOSTS": ", ".join(settings.hosts) or "this machine and any address; on a demo only this machine",
        "BLINDSPOT_FRAMED_BY": settings.framed_by or "nobody",
        "BLINDSPOT_PREPARE": "yes" if settings.prepare else "no" if settings.loads_ahead else "nothing",
    }
    for name in VARIABLES:
        value = environment.get(name, "")
        if refused := _refusal(name, value):
            remedy = refused.remedy or f"correct or unset {name}"
            yield problem_of(SETTINGS, name, InputError(refused.what, expected=refused.expected, remedy=remedy))
        else:
            yield ok(SETTINGS, name, in_use[name] if value else f"not set: {in_use[name]}")
    for name in sorted(environment):
        if name in VARIABLES or name in OF_THE_TESTS:
            continue
        upper = name.upper()
        typo = process.extractOne(upper, list(VARIABLES), scorer=OSA.distance, score_cutoff=LARGEST_TYPO)
        if typo or upper.startswith("BLINDSPOT"):
            nearest = typo[0] if typo else _nearest(upper)
            what = f"nothing reads {name}; expected one of {', '.join(VARIABLES)}"
            yield problem(SETTINGS, name, what, f"did you mean {nearest}? Rename or unset it")


def _nearest(name: str) -> str:
    """The most likely intended variable: a prefix of the name, else the most similar one."""
    begun = [variable for variable in VARIABLES if name.startswith(f"{variable}_")]
    return max(begun, key=len) if begun else process.extractOne(name, list(VARIABLES), scorer=OSA.distance)[0]


def _refusal(name: str, value: str) -> BlindspotError | None:
    """Why a variable's value is invalid, or None."""
    try:
        Settings.from_environment({name: value})
    except InputError as error:
        return error
    except (OSError, RuntimeError, ValueError) as error:  # unknown user in ~user, circular links
        return InputError(f"{name} is '{value}', which is no path: {error}", expected="the path of a folder")
    return None


def without_password(url: str) -> str:
    """A URL without its password: people paste the doctor's output into reports."""
    return re.sub(r"(://)[^/@\s]+@", r"\1***@", url)
