// Hashes that name views.

import assert from "node:assert/strict";
import test from "node:test";
import { href, parse } from "../ui/kit/route";

test("a hash names a view and its parts", () => {
  assert.deepEqual(parse(href("edit", "a b/ü.toml")), { view: "edit", rest: ["a b", "ü.toml"] });
  assert.deepEqual(parse("#/"), { view: "files", rest: [] });
});

test("a hash that is badly encoded is no error", () => {
  assert.deepEqual(parse("#/runs/100%"), { view: "runs", rest: ["100%"] });
});
