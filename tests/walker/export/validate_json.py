"""Validates tests/golden/dump.json against mixwalk-dump.schema.json, and checks that the schema can
say no: with any one required field gone, the document must be refused."""

import copy
import json
import pathlib
import sys

import jsonschema

golden = pathlib.Path(sys.argv[1])
schema = json.loads((golden / "mixwalk-dump.schema.json").read_text())
document = json.loads((golden / "dump.json").read_text())
validator = jsonschema.Draft7Validator(schema)
jsonschema.Draft7Validator.check_schema(schema)
errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(document)]
for error in errors:
    print(error)

accepted = 0
for place in ([], ["process"], ["runtime"], ["modules", 0], ["threads", 0],
              ["threads", 0, "frames", 0], ["threads", 0, "runs", 0]):
    target = document
    for step in place:
        target = target[step]
    for field in list(target):
        broken = copy.deepcopy(document)
        inner = broken
        for step in place:
            inner = inner[step]
        del inner[field]
        if validator.is_valid(broken) and field not in ("displacement", "function_id"):
            accepted += 1
            print(f"accepted without {'/'.join(map(str, place + [field]))}")
print(f"{len(errors)} errors, {accepted} wrongly accepted")
sys.exit(1 if errors or accepted else 0)
