// Requests to the server. What it refuses comes as an exception with a problem in the words of the command line.

import type { Problem } from "./messages";

export class Refused extends Error {
  constructor(
    readonly problem: Problem,
    readonly status: number,
  ) {
    super(problem.what);
  }
}

const NO_ANSWER: Problem = {
  what: "the server does not answer",
  why: "it may have been stopped",
  hint: "start it again: dumbbell ui",
  wrong: "",
  key: null,
  line: null,
  column: null,
  length: null,
};

/** What the page itself refuses, to be thrown. */
export const refusal = (what: string, why: string, hint: string): Refused => new Refused({ ...NO_ANSWER, what, why, hint }, 0);

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...init });
  } catch {
    throw new Refused(NO_ANSWER, 0);
  }
  const text = await answer.text();
  let body: unknown = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    body = null;
  }
  if (answer.ok) return body as T;
  const known = body as Partial<Problem> | null;
  throw new Refused({ ...NO_ANSWER, why: "", hint: "", ...known, what: known?.what ?? `the server says: ${answer.status}` }, answer.status);
}

/** The answer to GET, as JSON. Raises `Refused`. */
export function get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  const search = new URLSearchParams(query).toString();
  return ask<T>(search ? `${path}?${search}` : path, {});
}

/** The answer to POST of a JSON body, as JSON; `signal` gives it up. Raises `Refused`. */
export function post<T>(path: string, body: unknown = {}, signal: AbortSignal | null = null): Promise<T> {
  return ask<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

/** The answer to POST of a file as it is, as JSON; `signal` gives it up. Raises `Refused`. */
export function upload<T>(path: string, query: URLSearchParams, file: File, signal: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/octet-stream" };
  return ask<T>(`${path}?${query.toString()}`, { method: "POST", headers, body: file, signal });
}

/** DELETE. Raises `Refused`. */
export function remove<T>(path: string): Promise<T> {
  return ask<T>(path, { method: "DELETE", headers: { "Content-Type": "application/json" } });
}

/** The problem of a failed request, or of anything else that was thrown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Refused) return thrown.problem;
  return { ...NO_ANSWER, what: String(thrown), why: "", hint: "" };
}
