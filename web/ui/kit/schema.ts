// The JSON Schema of scenarios, as forms need it: which widget a value has, its units, its choices, its variants.

import type { Key } from "./messages";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  default?: unknown;
  examples?: unknown[];
  description?: string;
  minimum?: number;
  maximum?: number;
  /** Keys of a reverse direction that are as forward unless they are given. */
  "x-as-forward"?: string[];
}

/** One of the things that a value may be, each with a widget of its own. */
export type Kind =
  | { is: "quantity"; units: string[] }
  | { is: "text" }
  | { is: "number"; whole: boolean }
  | { is: "truth" }
  | { is: "word"; words: (string | number)[] }
  | { is: "list"; of: Schema }
  | { is: "pair"; parts: Schema[] }
  | { is: "table"; schema: Schema }
  | { is: "map"; values: Schema };

export interface Variant {
  kind: Kind;
  schema: Schema;
  /** What it is called where one chooses. */
  label: string;
}

/** Follow a reference; what stands beside it wins, such as a description of this use. */
export function deref(root: Schema, schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const found = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
  if (!found) return schema;
  const { $ref: _, ...beside } = schema;
  return { ...deref(root, found), ...beside };
}

/** Units of a quantity, from its pattern, without the other ways to write one; empty: no quantity. */
function units(pattern: string | undefined): string[] {
  const found = pattern && /\(([^()?:]+)\)\\s\*\$$/.exec(pattern);
  if (!found) return [];
  const all = found[1]?.split("|") ?? [];
  const other = new Set(["µs", "μs", "sec", "bps", "kbps", "Mbps", "Gbps", "b/s", "kb/s", "Mb/s", "Gb/s", "byte", "bytes", "packet", "pkts", "BDP", "percent"]);
  return all.filter((unit) => !other.has(unit));
}

/** The alternatives of a schema, flat. */
function alternatives(root: Schema, schema: Schema): Schema[] {
  const here = deref(root, schema);
  const inner = here.anyOf ?? (here.properties ? undefined : here.oneOf);
  return inner ? inner.flatMap((one) => alternatives(root, one)) : [here];
}

function words(schema: Schema): (string | number)[] {
  const all = schema.const !== undefined ? [schema.const] : (schema.enum ?? []);
  return all.filter((word): word is string | number => typeof word === "string" || typeof word === "number");
}

function single(schema: Schema): Kind {
  if (words(schema).length > 0) return { is: "word", words: words(schema) };
  if (schema.type === "boolean") return { is: "truth" };
  if (schema.type === "integer" || schema.type === "number") return { is: "number", whole: schema.type === "integer" };
  if (schema.type === "array" && schema.prefixItems) return { is: "pair", parts: schema.prefixItems };
  if (schema.type === "array") return { is: "list", of: schema.items ?? {} };
  if (schema.type === "object" && schema.properties) return { is: "table", schema };
  if (schema.type === "object") {
    const [values] = Object.values(schema.patternProperties ?? {});
    return { is: "map", values: values ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : {}) };
  }
  const known = units(schema.pattern);
  return known.length > 0 ? { is: "quantity", units: known } : { is: "text" };
}

/** The keys of a table that tell its variants apart, in the order in which they are looked for. */
const TAGS = ["kind", "model", "distribution", "protocol"];

/** The words by which a table says which variant it is. */
export function tags(schema: Schema): { key: string; words: string[]; required: boolean } | null {
  for (const key of TAGS) {
    const of = schema.properties?.[key];
    const all = of ? words(of).map(String) : [];
    if (all.length > 0) return { key, words: all, required: schema.required?.includes(key) ?? false };
  }
  return null;
}

function label(kind: Kind, schema: Schema): string {
  if (kind.is === "quantity") return kind.units.includes("%") ? "share" : kind.units.includes("bit/s") ? "rate" : kind.units.includes("ms") && !kind.units.includes("B") ? "time" : "amount";
  if (kind.is === "word") return kind.words.join(", ");
  if (kind.is === "list") return "list";
  if (kind.is === "table") {
    const tag = tags(schema);
    return tag ? tag.words.join(", ") : (schema.required?.[0] ?? Object.keys(schema.properties ?? {})[0] ?? "table");
  }
  return { text: "text", number: "number", truth: "yes or no", pair: "pair", map: "table" }[kind.is];
}

/** What a value may be: texts and numbers first, then tables. */
export function variants(root: Schema, schema: Schema): Variant[] {
  const all = alternatives(root, schema).map((one) => ({ kind: single(one), schema: one, label: label(single(one), one) }));
  // Whole numbers beside numbers, and the like, are one widget.
  return all.filter((one, i) => all.findIndex((other) => other.kind.is === one.kind.is && other.label === one.label) === i);
}

/** The variant that a written value is of. */
export function variantOf(all: readonly Variant[], value: unknown): Variant | undefined {
  const fits = ({ kind, schema }: Variant): boolean => {
    switch (kind.is) {
      case "word":
        return kind.words.includes(value as string);
      case "truth":
        return typeof value === "boolean";
      case "number":
        return typeof value === "number";
      case "quantity":
      case "text":
        return typeof value === "string";
      case "list":
        return Array.isArray(value);
      case "pair":
        return Array.isArray(value) && value.length === kind.parts.length;
      case "map":
        return isTable(value);
      case "table": {
        if (!isTable(value)) return false;
        const tag = tags(schema);
        const said = tag && value[tag.key];
        if (tag && said !== undefined) return tag.words.includes(String(said));
        if (tag?.required) return false;
        return (schema.required ?? []).some((key) => key in value) || Object.keys(value).every((key) => key in (schema.properties ?? {}));
      }
    }
  };
  return all.find((one) => one.kind.is === "word" && fits(one)) ?? all.find((one) => one.kind.is !== "word" && fits(one));
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands at a key of a table, or undefined. */
export function at(data: unknown, key: Key): unknown {
  let here = data;
  for (const part of key) {
    if (Array.isArray(here) && typeof part === "number") here = here[part];
    else if (isTable(here)) here = here[part];
    else return undefined;
  }
  return here;
}

/** A default in words, for the place of a value that is not given. */
export function placeholder(schema: Schema): string {
  if (schema.default !== undefined && schema.default !== "") return shown(schema.default);
  const told = /Default: (.+?)(?:(?<!\.)\.(?=\s|$)|;|$)/.exec(schema.description ?? "")?.[1] ?? "";
  return told.replace(/[`"]/g, "");
}

/** A value as a field shows it. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** `sample_interval` -> `Sample interval`. */
export function title(key: string, schema: Schema = {}): string {
  if (key === "id") return /^Name/.test(schema.description ?? "") ? "Name" : "Id";
  const known: Record<string, string> = { cc: "Congestion control", ecn: "ECN", mtu: "MTU", rtt: "Base RTT", asn: "AS number", ip: "IP version", frr: "frr.conf", ipv6: "IPv6", cpus: "CPUs", acks: "ACKs", tso: "TSO", arp: "ARP" };
  const words = key.replaceAll("_", " ");
  return known[key] ?? words[0]?.toUpperCase() + words.slice(1);
}

/** The description without the sentence of the default, which the field itself shows. */
export function help(schema: Schema): string {
  return (schema.description ?? "").replace(/\s*Default: [^]*$/, "").replaceAll("`", "");
}

/** The table of the topology's kind, by the schema's own list of kinds. */
export function topologySchema(root: Schema, data: unknown): Schema | null {
  const kind = at(data, ["topology", "kind"]);
  const $ref = typeof kind === "string" ? root.properties?.["topology"]?.discriminator?.mapping[kind] : undefined;
  return $ref ? deref(root, { $ref }) : null;
}
