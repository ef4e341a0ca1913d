// What a page would hide is spelled.

import assert from "node:assert/strict";
import test from "node:test";
import { spelled } from "../ui/kit/spelled";

test("a text has nothing that cannot be seen", () => {
  const hidden = ["\u202e", "\u200b", "\u00a0", "\u3164", "\u2800", "\u001b", "\r", "\u0085", "\u2028", "\u{e0041}", "\ufe0f", "\ud800", "\ue000"];
  for (const one of hidden) assert.equal(spelled(`a${one}b`), `a\\u{${one.codePointAt(0)!.toString(16)}}b`);
});

test("what can be seen stays", () => {
  const seen = "ss -ti  |\ttee 'ä 漢 🦀'\nexit";
  assert.equal(spelled(seen), seen);
});
