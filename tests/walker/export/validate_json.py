"""Holds the JSON of a dump, its schema and its page together.

usage: validate_json.py REPOSITORY

tests/golden/dump.json (which export_test compares with what the exporter writes) must satisfy
tests/golden/mixwalk-dump.schema.json; the schema must be able to say no, and must know every field;
docs/json.md must name every field, and its example must be a part of the golden document.
"""

import copy
import json
import pathlib
import re
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("FAILED: /usr/bin/python3 has no jsonschema; install python3-jsonschema (tests/run does)")

root = pathlib.Path(sys.argv[1])
golden = root / "tests" / "golden"
schema = json.loads((golden / "mixwalk-dump.schema.json").read_text(encoding="utf-8"))
document = json.loads((golden / "dump.json").read_text(encoding="utf-8"))
page = (root / "docs" / "json.md").read_text(encoding="utf-8")

# Fields that a frame or a module may lack, by docs/json.md.
OPTIONAL = {"build_id", "call", "displacement", "display", "file", "folded", "function_id", "inline_depth", "line",
            "line_approximate", "pdb", "pdb_id", "source_url", "symbol", "target"}
# The same of asynchronous work: fields of the document and of threads and locks, then those of its own objects.
OPTIONAL |= {"tasks_missing", "thread_pool", "contexts", "tasks", "task_groups", "traits", "waits_for_task", "queue_position",
             "handles", "async_frames", "sharers", "task_holders"}
ASYNC_OPTIONAL = {"type", "method", "await_number", "awaits", "awaits_left_out", "object", "object_type", "os_id",
                  "continues_on", "not_resumed", "due_ms", "task", "depth", "count", "state", "queued", "workers",
                  "working", "goal", "min", "max", "items"}


def is_optional(place, field):
    of_work = place[:1] in (["thread_pool"], ["tasks"]) or "async_frames" in place
    required = place == ["thread_pool", "items", 0] and field == "count"
    return field in OPTIONAL or (of_work and field in ASYNC_OPTIONAL and not required)


# One of each object of the document.
PLACES = ([], ["filter"], ["process"], ["runtime"], ["modules", 0], ["crash"], ["crash", "objects", 0],
          ["locks", 0], ["locks", 0, "waiters", 0], ["threads", 0], ["threads", 0, "wait"],
          ["thread_pool"], ["thread_pool", "items", 0], ["contexts", 0], ["tasks", 0], ["tasks", 1], ["tasks", 2],
          ["task_groups", 0], ["threads", 3, "async_frames", 1], ["threads", 3, "async_frames", 4],
          ["threads", 0, "frames", 0], ["threads", 0, "runs", 0])

problems = []


def errors(of_schema, instance, what):
    for error in jsonschema.Draft7Validator(of_schema).iter_errors(instance):
        problems.append(f"{what}: {'/'.join(map(str, error.path))}: {error.message}")


def at(instance, place):
    for step in place:
        instance = instance[step]
    return instance


def closed(node):
    """The schema with every field forbidden that it does not name."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: closed(value) for key, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        result["additionalProperties"] = False
    return result


def fields(node):
    if isinstance(node, list):
        return set().union(*map(fields, node))
    if not isinstance(node, dict):
        return set()
    # An object without named properties is a map: its keys are values.
    own = set(node.get("properties", ())) if node.get("type") == "object" else set()
    return own.union(*map(fields, node.values()))


def is_part(part, whole):
    """Equal, but that arrays may have lost elements."""
    if isinstance(part, dict):
        return (isinstance(whole, dict) and part.keys() == whole.keys()
                and all(is_part(part[key], whole[key]) for key in part))
    if isinstance(part, list):
        rest = iter(whole)
        return all(any(is_part(item, other) for other in rest) for item in part)
    return part == whole


jsonschema.Draft7Validator.check_schema(schema)
errors(schema, document, "dump.json")
errors(closed(schema), document, "dump.json has a field that the schema does not know")

for place in PLACES:
    for field in list(at(document, place)):
        broken = copy.deepcopy(document)
        del at(broken, place)[field]
        if not is_optional(place, field) and jsonschema.Draft7Validator(schema).is_valid(broken):
            problems.append(f"the schema accepts a document without {place + [field]}")

for field in sorted(fields(schema)):
    if f"`{field}`" not in page:
        problems.append(f"docs/json.md does not say what `{field}` is")

example = re.search(r"```json\n(.*?)```", page, re.DOTALL)
if example is None:
    problems.append("docs/json.md has no example")
else:
    example = json.loads(example.group(1))
    errors(schema, example, "the example of docs/json.md")
    if not is_part(example, document):
        problems.append("the example of docs/json.md is no part of dump.json")

# The same, shorter, of what compare finds.
hang_schema = json.loads((golden / "mixwalk-hang.schema.json").read_text(encoding="utf-8"))
hang_page = (root / "docs" / "hang-json.md").read_text(encoding="utf-8")
jsonschema.Draft202012Validator.check_schema(hang_schema)
hang = json.loads((golden / "hang-deadlock.json").read_text(encoding="utf-8"))
errors(hang_schema, hang, "hang-deadlock.json")
errors(closed(hang_schema), hang, "hang-deadlock.json has a field that the schema does not know")
for place in ([], ["dumps", 0], ["dumps", 0, "locks", 0], ["findings", 0], ["findings", 0, "threads", 0],
              ["threads", 0], ["threads", 0, "sightings", 0], ["groups", 0], ["groups", 0, "frames", 0]):
    for field in list(at(hang, place)):
        broken = copy.deepcopy(hang)
        del at(broken, place)[field]
        if field not in {"file", "line"} and jsonschema.Draft7Validator(hang_schema).is_valid(broken):
            problems.append(f"mixwalk-hang.schema.json accepts a document without {place + [field]}")
for field in sorted(fields(hang_schema)):
    if f"`{field}`" not in hang_page:
        problems.append(f"docs/hang-json.md does not say what `{field}` is")

print("\n".join(problems) if problems else "dump.json, its schema and docs/json.md agree")
sys.exit(1 if problems else 0)
