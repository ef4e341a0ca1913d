// What the server can do, asked once; and the schema of scenarios, by which forms and completion are made.

import { get } from "./api";
import type { Schema } from "./schema";
import type { About } from "./messages";

let about: Promise<About> | null = null;
let schema: Promise<Schema> | null = null;

/** Versions, engines, algorithms. */
export function theAbout(): Promise<About> {
  about ??= get<About>("/api/about");
  return about;
}

/** The JSON Schema of scenarios, as `dumbbell schema` prints it. */
export function theSchema(): Promise<Schema> {
  schema ??= get<Schema>("/api/schema");
  return schema;
}
