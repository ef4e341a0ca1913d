// What one can choose for a value that may be several things: a rate, `unlimited`, a table of steps, ...

import { isTable, tags, variantOf, variants, type Schema, type Variant } from "../kit/schema";
import { deref } from "../kit/schema";

export interface Entry {
  id: string;
  label: string;
  variant: Variant;
  /** The table that a word is short for: `queue = "red"` has parameters. */
  table: Schema | null;
  /** What is written when it is chosen. */
  make: (root: Schema) => unknown;
}

/** All choices, in the order of the schema; words before the tables that they stand for. */
export function entries(root: Schema, schema: Schema): Entry[] {
  const all = variants(root, schema);
  const words = all.filter((one) => one.kind.is === "word");
  const said = new Set(words.flatMap((one) => (one.kind.is === "word" ? one.kind.words.map(String) : [])));
  const made: Entry[] = [];
  for (const variant of all) {
    const { kind } = variant;
    if (kind.is === "word") {
      for (const word of kind.words) made.push({ id: String(word), label: String(word), variant, table: tableOf(all, String(word)), make: () => word });
    } else if (kind.is === "table") {
      const tag = tags(variant.schema);
      for (const word of tag?.words ?? []) {
        if (said.has(word)) continue;
        made.push({ id: `table ${word}`, label: word, variant, table: null, make: (of) => ({ ...(tag && tag.required ? { [tag.key]: word } : tag ? { [tag.key]: word } : {}), ...seedTable(of, variant.schema, tag?.key) }) });
      }
      if (!tag) made.push({ id: `table ${variant.label}`, label: variant.label, variant, table: null, make: (of) => seedTable(of, variant.schema) });
    } else {
      made.push({ id: kind.is + variant.label, label: variant.label, variant, table: null, make: (of) => seed(of, variant.schema) });
    }
  }
  return made;
}

function tableOf(all: readonly Variant[], word: string): Schema | null {
  return all.find((one) => one.kind.is === "table" && tags(one.schema)?.words.includes(word))?.schema ?? null;
}

/** The choice that a written value is of; the first one if nothing is written. */
export function entryOf(choices: readonly Entry[], value: unknown): Entry | undefined {
  if (value === undefined) return choices[0];
  const variant = variantOf(
    choices.map((one) => one.variant),
    value,
  );
  if (!variant) return undefined;
  if (variant.kind.is === "word") return choices.find((one) => one.id === String(value));
  if (variant.kind.is === "table" && isTable(value)) {
    const tag = tags(variant.schema);
    const said = tag ? String(value[tag.key] ?? tag.words[0]) : null;
    return choices.find((one) => one.table === variant.schema && one.id === said) ?? choices.find((one) => one.variant === variant && (said === null || one.label === said));
  }
  return choices.find((one) => one.variant === variant);
}

/** A first value that means something: the schema's example, or what is required in it. */
export function seed(root: Schema, schema: Schema): unknown {
  const here = deref(root, schema);
  if (here.default !== undefined) return here.default;
  if (here.examples?.length) return here.examples[0];
  const [first] = variants(root, here);
  if (!first) return "";
  const { kind } = first;
  switch (kind.is) {
    case "word":
      return kind.words[0];
    case "truth":
      return true;
    case "number":
      return first.schema.minimum ?? 1;
    case "list":
      return [seed(root, kind.of)];
    case "pair":
      return kind.parts.map((part) => seed(root, part));
    case "table":
      return seedTable(root, kind.schema);
    case "map":
      return {};
    default:
      return first.schema.examples?.[0] ?? "";
  }
}

function seedTable(root: Schema, schema: Schema, without?: string): Record<string, unknown> {
  const keys = (schema.required ?? []).filter((key) => key !== without);
  return Object.fromEntries(keys.map((key) => [key, seed(root, schema.properties?.[key] ?? {})]));
}
