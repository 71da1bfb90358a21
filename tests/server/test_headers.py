"""Hosting files: every command, option, setting, file and address in them exists, and they agree."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from streamlit import config as streamlit_config

from blindspot import policy
from blindspot.server.routes import READY
from blindspot.settings import ROOT, VARIABLES, Settings
from blindspot.studies.judgments.doubts import FAST_SECONDS, LEAST_ANSWERS
from tests.support.commands import parse

HOSTING = ROOT / "assets" / "hosting"
UNIT, NGINX, CADDY, CONTAINER = (
    (HOSTING / name).read_text("utf-8")
    for name in ("blindspot.service", "nginx.conf", "Caddyfile", "../../Containerfile")
)
UPLOAD_MB = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]["maxUploadSize"]
DEMO_MB = 1 + (policy.DEMO.uploads.size or 0) // 2**20  # a file that a demo takes, and the form around it


def code(text: str) -> str:
    """Without comments."""
    return re.sub(r"(?m)(^|\s)#.*$", "", text)


def unit() -> configparser.RawConfigParser:
    class Many(dict[str, str]):
        """systemd's keys may come several times: their values are joined by newlines."""

        def __setitem__(self, key: str, value: object) -> None:
            if isinstance(value, list) and key in self and isinstance(self[key], list):
                value = [*self[key], *value]
            super().__setitem__(key, value)  # type: ignore[arg-type]

    parser = configparser.RawConfigParser(strict=False, dict_type=Many, comment_prefixes=("#",), delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT)
    return parser


def check_streamlit(words: list[str]) -> dict[str, str]:
    """The options of a command that serves the app, which exist, by name."""
    assert words[1:3] == ["run", "app.py"]
    names, values = words[3::2], words[4::2]
    assert len(names) == len(values)
    for name in names:
        assert name.removeprefix("--") in streamlit_config._config_options_template, name
    return dict(zip(names, values, strict=True))


def check_variables(variables: dict[str, str]) -> None:
    """They are read, and their values mean something: a name that nothing reads would be a slip."""
    ours = {name: value for name, value in variables.items() if name.startswith("BLINDSPOT")}
    assert {"BLINDSPOT_MODE", "BLINDSPOT_CACHE", "BLINDSPOT_CACHE_LIMIT"} <= set(ours)
    assert set(ours) <= set(VARIABLES)
    settings = Settings.from_environment(ours)
    assert settings.mode == "demo"
    assert settings.cache_limit is not None
    assert variables["HOME"] == ours["BLINDSPOT_CACHE"]  # the only place that can be written


def test_the_unit_starts_what_there_is() -> None:
    service = unit()["Service"]
    check_variables(dict(line.split("=", 1) for line in service["Environment"].split("\n")))
    before = shlex.split(service["ExecStartPre"])
    assert before[0] == "/opt/blindspot/.venv/bin/blindspot"
    path, options = parse(before[1:])
    assert (path, options["ready"]) == ("doctor", True)
    options = check_streamlit(shlex.split(service["ExecStart"]))
    assert options["--server.address"] == "127.0.0.1"  # the proxy is the only way in
    assert f"/var/lib/{service['StateDirectory']}" in service["Environment"]


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    here = tmp_path / "blindspot.service"
    here.write_text(re.sub(r"/opt/blindspot/\.venv/bin/\w+", "/bin/true", UNIT).replace("/opt/blindspot", "/"), "utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(here)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "blindspot" in line]) == (0, [])


def test_the_proxies_lead_to_the_unit_s_port() -> None:
    port = check_streamlit(shlex.split(unit()["Service"]["ExecStart"]))["--server.port"]
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", code(NGINX))) == {port}
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", code(CADDY))) == {port}


def test_the_proxies_pass_websockets_and_uploads_on() -> None:
    directives = [" ".join(line.split()) for line in code(NGINX).replace("{", "{;").split(";")]
    pages = directives[directives.index("location / {") : directives.index("} location = /ready {")]
    for needed in (
        "proxy_http_version 1.1",
        "proxy_set_header Upgrade $http_upgrade",
        "proxy_set_header Connection $connection_upgrade",
        "proxy_set_header Host $http_host",
    ):
        assert needed in pages
    assert f"client_max_body_size {DEMO_MB}m" in directives
    assert f"max_size {DEMO_MB}MB" in code(CADDY)
    assert f"({UPLOAD_MB}m)" in NGINX, "what a private server needs"
    assert f"({UPLOAD_MB}MB)" in CADDY, "what a private server needs"
    assert f"location = {READY} {{" in code(NGINX)
    assert f"health_uri {READY}\n" in code(CADDY)


def test_nginx_logs_no_query_of_an_address() -> None:
    """A facilitator's link has a key in it; lines of errors have the whole request."""
    (logged,) = re.findall(r"log_format blindspot '([^']*)'", NGINX)
    assert "$request_method $uri" in logged
    assert not re.search(r"\$(request|request_uri|args|query_string|http_referer|is_args)\b", logged)
    assert re.findall(r"access_log\s+\S+ (\S+);", code(NGINX)) == ["blindspot"]
    assert re.findall(r"error_log\s+\S+ (\S+);", code(NGINX)) == ["crit"]
    assert not re.search(r"(?m)^\s*log\b", code(CADDY))


def test_the_container_has_what_the_app_needs_and_no_rights() -> None:
    lines = code(CONTAINER).replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line.strip()]
    copied = [source for step, rest in steps if step == "COPY" for source in rest.split()[:-1]]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert {"app.py", "pages", "core", "assets", "docs", ".streamlit", "requirements.txt", "pyproject.toml"} <= set(
        copied
    )
    ignored = {line for line in (ROOT / ".containerignore").read_text("utf-8").split() if not line.startswith("#")}
    assert not ignored & set(copied)
    by_step = dict(steps)
    assert by_step["USER"] == "10001"
    assert steps.index(["USER", "10001"]) > max(i for i, (step, _) in enumerate(steps) if step in {"RUN", "COPY"})
    variables = dict(word.split("=", 1) for word in shlex.split(by_step["ENV"]))
    check_variables(variables)
    assert by_step["VOLUME"] == variables["BLINDSPOT_CACHE"]
    options = check_streamlit(json.loads(by_step["CMD"]))
    assert by_step["EXPOSE"] == options["--server.port"]
    assert f"http://127.0.0.1:{options['--server.port']}{READY}" in by_step["HEALTHCHECK"]
    assert "--read-only" in CONTAINER


def steps_of(text: str) -> list[list[str]]:
    return [line.split(maxsplit=1) for line in code(text).replace("\\\n", " ").splitlines() if line.strip()]


def test_the_space_s_stage_goes_on_from_the_image_and_prepares_the_demo() -> None:
    stage = steps_of((HOSTING / "space" / "stage").read_text("utf-8"))
    by_step = dict(stage)
    assert steps_of(CONTAINER)[0][1].endswith(f" AS {by_step['FROM']}")
    variables = dict(word.split("=", 1) for word in shlex.split(by_step["ENV"]))
    settings = Settings.from_environment(variables)
    assert (settings.hosts, settings.framed_by) == (("*.hf.space",), "https://huggingface.co")
    (prepares,) = [shlex.split(rest) for step, rest in stage if (step, rest[:9]) == ("RUN", "blindspot")]
    path, options = parse(prepares[1:])
    assert (path, options["demo"], options["prepare"]) == ("app", True, True)
    _, header, _ = (HOSTING / "space" / "README.md").read_text("utf-8").split("---\n", 2)
    described = yaml.safe_load(header)
    assert described["sdk"] == "docker"
    assert described["app_port"] == int(by_step["EXPOSE"])
    assert check_streamlit(json.loads(by_step["CMD"]))["--server.port"] == by_step["EXPOSE"]


@pytest.mark.process
def test_the_space_s_files_are_those_of_the_checkout(tmp_path: Path) -> None:
    subprocess.run([HOSTING / "space" / "make", tmp_path], check=True)
    made = (tmp_path / "Dockerfile").read_text("utf-8")
    assert made.startswith(CONTAINER)
    copied = [source for step, rest in steps_of(made) if step == "COPY" for source in rest.split()[:-1]]
    assert [source for source in copied if not (tmp_path / source).exists()] == []
    assert not (tmp_path / "tests").exists()
    assert (tmp_path / "README.md").read_text("utf-8").startswith("---\ntitle: Blindspot\n")


def test_kubernetes_asks_as_the_image_answers() -> None:
    parts = {part["kind"]: part for part in yaml.safe_load_all((HOSTING / "kubernetes.yaml").read_text("utf-8"))}
    deployment = parts["Deployment"]["spec"]
    (container,) = deployment["template"]["spec"]["containers"]
    by_step = dict(steps_of(CONTAINER))
    variables = dict(word.split("=", 1) for word in shlex.split(by_step["ENV"]))
    assert (deployment["replicas"], deployment["strategy"]["type"]) == (1, "Recreate")
    assert [port["containerPort"] for port in container["ports"]] == [int(by_step["EXPOSE"])]
    assert {one["name"]: one["mountPath"] for one in container["volumeMounts"]}["cache"] == variables["BLINDSPOT_CACHE"]
    assert str(deployment["template"]["spec"]["securityContext"]["runAsUser"]) == by_step["USER"]
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "liveness": "/_stcore/health",
        "readiness": READY,
    }
    for probe in probes.values():
        assert probe["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    assert parts["Service"]["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    assert parts["Service"]["spec"]["selector"] == deployment["selector"]["matchLabels"]
    names = {env["name"] for env in container["env"]}
    assert names <= set(VARIABLES)


def test_the_guide_names_the_files_for_hosting() -> None:
    for path in [*(f"assets/hosting/{path.name}" for path in HOSTING.iterdir()), "Containerfile"]:
        assert f"`{path}`" in GUIDE


# --- docs/hosting.md

GUIDE = (ROOT / "docs" / "hosting.md").read_text("utf-8")


def test_the_guide_s_bounds_are_the_demo_s() -> None:
    may = policy.DEMO
    assert f"at most {may.steps} steps and {may.dimensions:,} dimensions" in GUIDE
    assert f"{may.pages_in_all} at a time" in GUIDE
    assert may.uploads_kept is not None
    assert f"{may.uploads_kept[0] // 2**20} MB of one page and {may.uploads_kept[1] // 2**20} MB of all" in GUIDE
    assert f"{may.uploads_at_once} files on their way" in GUIDE
    assert f"{may.queued_by_one} in the queue, {may.queued_in_all} of all" in GUIDE
    assert may.session_room is not None
    assert f"{may.session_room.an_hour} an hour" in GUIDE
    assert f"{may.session_room.in_all} in all" in GUIDE
    assert f"{may.session_room.days} days after" in GUIDE
    assert f"below {FAST_SECONDS} seconds" in GUIDE
    assert f"at least {LEAST_ANSWERS} answers" in GUIDE
    limits = may.uploads
    assert f"{limits.rows:,} rows, {limits.columns} columns" in GUIDE


def test_the_guide_s_bounds_are_the_proxies() -> None:
    (connections,) = re.findall(r"limit_conn blindspot_connections (\d+);", code(NGINX))
    (rate,) = re.findall(r"rate=(\d+)r/s", code(NGINX))
    (burst,) = re.findall(r"burst=(\d+)", code(NGINX))
    assert f"| pages and other connections of one address | {connections} |" in GUIDE
    assert f"| {rate} a second, {burst} at once |" in GUIDE
    for directive in ("client_header_timeout 10s", "client_body_timeout 10s", "large_client_header_buffers 4 16k"):
        assert directive in code(NGINX)
    for directive in ("read_header 10s", "read_body 30s", "max_header_size 16KB"):
        assert directive in code(CADDY)


def test_the_guide_names_tests_that_there_are() -> None:
    names = set(re.findall(r"`(?:tests/)?((?:\w+/)*test_\w+\.py)`", GUIDE))
    assert len(names) >= 6
    assert [name for name in names if not (ROOT / "tests" / name).exists()] == []
    assert "docs/hosting.md" in (ROOT / "README.md").read_text("utf-8")
