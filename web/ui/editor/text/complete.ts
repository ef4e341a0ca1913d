// Completion in the text, from the schema: keys of the table in which the cursor stands, and values of a key.

import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import { deref, tags, variants, type Schema } from "../../kit/schema";

/** The path of the table whose header is above a position: `[[topology.links]]` -> topology, links. */
export function tableAt(text: string, position: number): string[] {
  const before = text.slice(0, position);
  let found: string[] = [];
  for (const line of before.split("\n")) {
    const header = /^\s*\[\[?([^\]]+)\]\]?/.exec(line);
    if (header?.[1]) found = parts(header[1]);
  }
  return found;
}

/** The parts of a dotted key. */
export function parts(key: string): string[] {
  return [...key.matchAll(/"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

/** Schemas of all tables that may stand at a path. */
export function tables(root: Schema, path: readonly string[], kind: string | null): Schema[] {
  let here: Schema[] = [root];
  for (const [i, part] of path.entries()) {
    here = here.flatMap((schema) => {
      const one = schema.properties?.[part] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
      return one ? inside(root, one) : [];
    });
    if (i === 0 && part === "topology" && kind) here = here.filter((schema) => schema.properties?.["kind"]?.const === kind);
  }
  return here;
}

/** The tables that a value may be, or the entries of its list. */
function inside(root: Schema, schema: Schema): Schema[] {
  return variants(root, schema).flatMap(({ kind, schema: one }): Schema[] => {
    if (kind.is === "table") return [one];
    if (kind.is === "map") return [one];
    if (kind.is === "list") return inside(root, kind.of);
    return [];
  });
}

/** The keys around a position within inline tables on its line: `queue = { kind = |` -> queue. */
function inline(line: string): string[] {
  const open: string[] = [];
  let key = "";
  let text = false;
  for (const match of line.matchAll(/"|[A-Za-z0-9_.-]+(?=\s*=)|[{}]/g)) {
    if (match[0] === '"') text = !text;
    else if (text) continue;
    else if (match[0] === "{") open.push(key);
    else if (match[0] === "}") open.pop();
    else key = match[0];
  }
  return open.flatMap(parts);
}

function value(schema: Schema, root: Schema, algorithms: readonly string[], nodes: readonly string[], key: string): Completion[] {
  const options: Completion[] = variants(root, schema).flatMap(({ kind, schema: one }): Completion[] => {
    if (kind.is === "word") return kind.words.map((word) => ({ label: typeof word === "string" ? `"${word}"` : String(word), type: "enum" }));
    if (kind.is === "truth") return [{ label: "true" }, { label: "false" }];
    if (kind.is === "table") return (tags(one)?.words ?? []).map((word) => ({ label: `{ ${tags(one)?.key} = "${word}" }`, detail: "table" }));
    return [one.default, ...(one.examples ?? [])].filter((example) => example !== undefined && typeof example !== "object").map((example) => ({ label: typeof example === "string" ? `"${example}"` : String(example), detail: "example" }));
  });
  const named = key === "cc" ? algorithms : ["from", "to", "node", "router"].includes(key) ? nodes : [];
  const all = [...named.map((name): Completion => ({ label: `"${name}"`, boost: 1 })), ...options];
  return all.filter((one, i) => all.findIndex((other) => other.label === one.label) === i);
}

/** Completes keys and values by the schema; names of nodes and algorithms are asked for when they are needed. */
export function completion(schema: () => Promise<Schema>, algorithms: () => Promise<readonly string[]>, nodes: () => readonly string[]): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const root = await schema();
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const text = context.state.doc.toString();
    if (/^\s*#/.test(before)) return null;
    const kind = /^\s*kind\s*=\s*"([a-z-]+)"/m.exec(text.slice(Math.max(0, text.indexOf("[topology]"))))?.[1] ?? null;
    const header = /^\s*\[\[?([A-Za-z0-9_.-]*)$/.exec(before);
    if (header) {
      const path = parts(header[1] ?? "");
      const above = header[1]?.endsWith(".") ? path : path.slice(0, -1);
      const found = tables(root, above, kind).flatMap((one) => Object.entries(one.properties ?? {}).filter(([, child]) => inside(root, child).length > 0));
      return { from: context.pos - (header[1]?.endsWith(".") ? 0 : (path.at(-1)?.length ?? 0)), options: found.map(([label, child]) => ({ label, info: deref(root, child).description ?? "" })), validFor: /^[\w-]*$/ };
    }
    const path = [...tableAt(text, line.from), ...inline(before)];
    const here = tables(root, path, kind);
    const assigned = /([A-Za-z0-9_."-]+)\s*=\s*("[^"]*|[A-Za-z0-9_.{ -]*)$/.exec(before);
    if (assigned) {
      const key = parts(assigned[1] ?? "");
      const of = key.length > 1 ? tables(root, [...path, ...key.slice(0, -1)], kind) : here;
      const name = key.at(-1) ?? "";
      const options = (await Promise.all(of.flatMap((one) => (one.properties?.[name] ? [one.properties[name]] : [])).map(async (one) => value(one, root, await algorithms(), nodes(), name)))).flat();
      if (options.length === 0 || (!context.explicit && /\{/.test(assigned[2] ?? ""))) return null;
      return { from: context.pos - (assigned[2]?.length ?? 0), to: context.pos + (/^"/.exec(line.text.slice(context.pos - line.from)) && assigned[2]?.startsWith('"') ? 1 : 0), options };
    }
    const word = context.matchBefore(/[A-Za-z0-9_]*/);
    if (!context.explicit && (!word || word.from === word.to)) return null;
    const options = here.flatMap((one) => Object.entries(one.properties ?? {}).map(([label, child]): Completion => ({ label, apply: `${label} = `, info: deref(root, child).description ?? "" })));
    const unique = options.filter((one, i) => options.findIndex((other) => other.label === one.label) === i);
    return { from: word?.from ?? context.pos, options: unique, validFor: /^\w*$/ };
  };
}
