"""Whatever is printed with --json is what the published schema says, no field more and none less."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from rcv_py.cli.options.commands import COMMANDS, FOLDED
from rcv_py.cli.schemas import BY_ID, SCHEMAS, schema_document
from rcv_py.synth.samples import SAMPLES
from tests.support.command_runs import ON_A_CAPTURE, Run, of_capture, run
from tests.support.fixtures import fixture_of_each
from tests.support.pmc import write_tables
from tests.support.samples import sample_path, write_sample
from tests.support.schema_outline import outline

WITHOUT_JSON = {"view", "shot", "mcp", "completion", "skill", "help"}  # there is no result for a script
SMALLEST = "straggler"  # sample
WITH_ALL_VARIANTS = ("markers", "counters", "pc_sampling")  # samples: others have the same fields
OF_OTHERS_KINDS = (
    *("matmul_tiled", "vector_add", "reduction", "gfx11", "gfx12", "rivals", "untold", "combined", "ceiling"),
    *("crowded", "groups_256", "groups_512", "groups_1024", "ping_pong", "tutorial_before", "tutorial_after"),
    *("spm_gfx12", "other_simd"),
)  # other kernels, but no other kinds of files than the rest of the samples
AS_WELL = {  # what the kernels of some of them add to documents of commands
    "matmul_tiled": ("loops", "latency", "roofline"),
    "vector_add": ("bubbles", "causes", "latency", "triage"),
    "reduction": ("bubbles", "causes"),
    "kernels": ("triage",),
    "ceiling": ("registers", "triage"),
    "rivals": ("whatif",),
    "combined": ("check",),
    "tutorial_before": ("triage",),
}
WITHOUT_WAVES = "placeholder"  # sample: what there is to say of a capture in which nothing ran
SHOW_FILES = (  # commands whose documents show which files there are; all others tell of the kernel
    *("info", "check", "summary", "counters", "events", "notes", "occupancy", "waves", "wave", "units"),
    *("hotspot", "isa", "line", "loops", "registers", "place", "search"),
)
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "schemas.json"


@cache
def validator(schema: str) -> Draft202012Validator:
    """The published schema of a document."""
    return Draft202012Validator(BY_ID[schema].as_json())


def checked(done: Run) -> dict[str, Any]:
    """The document that was printed, after it was held against its schema."""
    assert done.err == "" or done.code == 2
    document: dict[str, Any] = json.loads(done.out)
    errors = [
        f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}"
        for error in validator(document["schema"]).iter_errors(document)
    ]
    assert not errors, f"{document['schema']}: {errors[:3]}"
    return document


def hold_all(folder: Path, most: int | None = None, commands: Iterable[str] = ON_A_CAPTURE) -> None:
    """Commands with every variant on one capture; of variants `most`."""
    for command in commands:
        for more in ON_A_CAPTURE[command][:most]:
            done = of_capture(command, folder, more, "--json")
            if done.code == 2 and not done.out:
                assert done.err.startswith("rcv: "), (command, more)
                continue
            document = checked(done)
            name = FOLDED.get(command, (command,))[0]
            assert document["about"]["command"] == name
            assert document["about"]["captures"] == [folder.name], (command, more)
            assert BY_ID[document["schema"]].command == name


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in OF_OTHERS_KINDS or name in AS_WELL])
def test_samples(name: str) -> None:
    """Every kind of capture that the simulator writes; which kernel ran changes numbers, and few forms.

    That was counted: in documents of the samples and of the commands left out no field has a type or one of
    the words that a schema lists, is null, an empty list, zero or below, that is not so in a document of the
    same command on another capture of this file.
    """
    if name in WITH_ALL_VARIANTS:
        hold_all(sample_path(name))
    elif name == WITHOUT_WAVES:
        hold_all(sample_path(name), 1)
    else:
        files = () if name in OF_OTHERS_KINDS else SHOW_FILES
        hold_all(sample_path(name), 1, {*files, *AS_WELL.get(name, ())})


@dataclass
class Library:
    """Captures below a folder: how many, two builds of a kernel, and another kernel."""

    root: Path
    captures: int
    pair: tuple[Path, Path]
    other: Path


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Three small ones; tests/real gives real ones to the same test."""
    names = ("groups_256", "groups_512", SMALLEST)
    root = tmp_path / "library"
    for name in names:
        write_sample(name, root / name)
    a, b, other = (root / name for name in names)
    return Library(root, len(names), (a, b), other)


def test_captures_below_a_folder_and_between_two(library: Library, tmp_path: Path) -> None:
    a, b = map(str, library.pair)
    root, other = str(library.root), str(library.other)
    names = [entry["capture"] for entry in checked(run("info", root, "--json"))["captures"]]
    assert len(names) == library.captures
    assert checked(run("index", root, "--jobs", "0", "--json"))["about"]["captures"]
    for by in ("instruction", "source", "block", "class", "listing", "flame"):
        found = checked(run("compare", a, b, "--by", by, "--top", "5", "--json"))
        assert len(found["about"]["captures"]) == 2
    assert checked(run("compare", a, other, "--json"))["kernel"] is None
    assert len(checked(run("compare", a, b, other, "--json"))["captures"]) == 2
    assert len(checked(run("trend", a, b, other, "--json"))["captures"]) == 3
    for name in ("one", "two"):
        write_sample(SMALLEST, tmp_path / "same" / name, 0)
    assert len(checked(run("triage", str(tmp_path / "same"), "--json"))["captures"]) == 2


# A capture whose instructions have source places
mapped = fixture_of_each(sample_path, ["matmul_small", "pc_sampling", "vector_add"])


def test_sources(mapped: Path) -> None:
    folder = str(mapped)
    file = checked(run("source", folder, "--json"))["rows"][0]
    path, line = file["file"], file["hottest_source_line"]
    assert checked(run("source", folder, path, "--json"))["kind"] == "lines"
    assert checked(run("source", folder, f"{path}:{line}", "--json"))["kind"] == "instructions"


def test_counter_tables(tmp_path: Path) -> None:
    tables = [str(path) for path in write_tables(tmp_path)]
    for words in ((), ("--by", "dispatch"), ("--ideal-mb", "8590", "--kernel", "kern_a")):
        assert checked(run("pmc", *tables, *words, "--json"))["rows"]
        assert checked(run("pmc", tables[0], *words, "--json"))["rows"]


def test_what_is_written_is_told(tmp_path: Path) -> None:
    folder = str(sample_path(SMALLEST))
    out = str(tmp_path / "report.md")
    assert checked(run("report", folder, "--out", out, "--json"))["reports"][0]["file"] == out
    done = run("report", folder, str(tmp_path / "none"), "--out-dir", str(tmp_path), "--jobs", "1", "--json")
    assert done.code == 2
    assert [bool(row["error"]) for row in checked(done)["reports"]] == [False, True]
    out = str(tmp_path / "waves.csv")
    words = ("export", folder, "--to", "csv", "--table", "waves", "--out", out, "--json")
    assert checked(run(*words))["file"] == out
    assert checked(run("synth", "--json"))["samples"][0]["folder"] is None
    assert checked(run("synth", SMALLEST, "--out", str(tmp_path), "--json"))["samples"][0]["files"]
    assert checked(run("isa-docs", "--json"))["rows"] == []
    packed, unpacked = str(tmp_path / "it.rcvz"), str(tmp_path / "unpacked")
    assert checked(run("pack", folder, "--out", packed, "--json"))["file"] == packed
    assert checked(run("unpack", packed, "--out", unpacked, "--json"))["file"] == unpacked
    assert checked(run("decode", unpacked, "--out", str(tmp_path / "again"), "--json"))["missing"] == 0
    assert len(checked(run("schema", "--json"))["schemas"]) == len(SCHEMAS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_json_without_a_schema(name: str) -> None:
    has_json = "json" in COMMANDS[name].arguments
    assert has_json == (name not in WITHOUT_JSON)
    assert has_json == any(schema.command == name for schema in SCHEMAS), "declare a Schema beside its result"


def test_every_command_about_a_capture_is_held() -> None:
    alone = {"view", "shot", "compare", "pmc", "index", "trend", "report", "export", "synth", "schema", "mcp"}
    alone |= {"completion", "skill", "help", "pack", "unpack", "decode", "record", "isa-docs"}
    about_a_capture = set(COMMANDS) - alone
    assert about_a_capture | set(FOLDED) == set(ON_A_CAPTURE), "add it to command_runs.py"


# -- the schemas themselves -------------------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.id)
def test_a_schema_is_one_and_explains_every_field(schema: Any) -> None:
    document = schema.as_json()
    meta.validate(document)
    assert schema.meaning.endswith(".")
    for place, shape in fields(document):
        assert len(shape.get("description", "")) > 4, place
        assert shape["description"].endswith("."), place


def fields(shape: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a schema, at any depth."""
    for name, below in shape.get("properties", {}).items():
        yield f"{place}.{name}", below
        yield from fields(below, f"{place}.{name}")
    forms = (*shape.get("oneOf", ()), *shape.get("anyOf", ()))
    for below in (shape.get("items"), shape.get("additionalProperties"), *forms):
        if isinstance(below, dict):
            yield from fields(below, place)


@pytest.mark.parametrize("schema", [one for one in SCHEMAS if one.forms], ids=lambda schema: schema.id)
def test_every_form_of_a_document_may_be_empty(schema: Any) -> None:
    """Forms that differ in their rows alone are alike without rows; `oneOf` would refuse what fits two."""
    for shape in schema.as_json()["anyOf"]:
        assert list(validator(schema.id).iter_errors(emptiest(shape))) == [], shape["description"]


def emptiest(shape: dict[str, Any]) -> Any:
    """The shortest value of this shape."""
    if "const" in shape or "enum" in shape:
        return shape["const"] if "const" in shape else shape["enum"][0]
    if "oneOf" in shape:
        return emptiest(shape["oneOf"][0])
    kind = shape["type"] if isinstance(shape["type"], str) else shape["type"][0]
    if kind == "object":
        return {name: emptiest(shape["properties"][name]) for name in shape.get("required", ())}
    if kind == "array":
        return [emptiest(shape["items"])] * shape.get("minItems", 0)
    if kind == "string":
        return "rcv.a/1" if "pattern" in shape else ""
    return {"integer": 0, "number": 0, "boolean": False, "null": None}[kind]


def test_a_document_with_a_strange_or_a_missing_field_is_noticed() -> None:
    good = json.loads(of_capture("hotspot", sample_path(SMALLEST), "--top 4", "--json").out)
    assert validator("rcv.hotspot/2").is_valid(good)
    row, *rows = good["rows"]
    for bad in (
        {**good, "more": 1},
        {name: value for name, value in good.items() if name != "about"},
        {**good, "rows": [{**row, "more": 1}, *rows]},
        {**good, "rows": [{**row, "hits": "7"}, *rows]},
        {**good, "schema": "rcv.hotspot/3"},
    ):
        assert not validator("rcv.hotspot/2").is_valid(bad)


def test_fields_do_not_change_without_a_new_version() -> None:
    recorded = json.loads(GOLDEN.read_text())
    now = {schema.id: outline(schema.as_json()) for schema in SCHEMAS}
    for name in sorted(set(recorded) & set(now)):
        lost = set(recorded[name].items()) - set(now[name].items())
        assert not lost, f"{name} lost or changed fields: give it a new version"
        assert now[name] == recorded[name], f"{name} has new fields: run tests/golden/record.py"
    assert sorted(now) == sorted(recorded), "run tests/golden/record.py"


def test_schemas_are_found_by_command_and_name() -> None:
    assert schema_document("hotspot")["oneOf"][0]["title"] == "rcv.hotspot/2"
    assert schema_document("waits")["title"] == "rcv.waits/2"
    assert schema_document("rcv.hotspot_like/2") == schema_document("rcv.hotspot_like")
    for name in ("envelope", *(schema.id for schema in SCHEMAS), *ON_A_CAPTURE):
        done = run("schema", name)
        assert done.code == 0
        meta.validate(json.loads(done.out))
    assert run("schema", "hotspt").err == (
        "rcv: There is no schema called hotspt.\n     Did you mean `rcv schema hotspot`?\n"
    )


def test_every_document_has_the_envelope() -> None:
    common = Draft202012Validator(schema_document("envelope"))
    for command, variants in ON_A_CAPTURE.items():
        done = of_capture(command, sample_path(SMALLEST), variants[0], "--json")
        assert common.is_valid(json.loads(done.out)), command
