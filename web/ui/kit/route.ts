// The hash says which view is shown: `#/edit/lab/mine.toml`, `#/runs/ID`.

import { useSyncExternalStore } from "react";

export interface Route {
  view: string;
  /** The segments behind the view's name. */
  rest: string[];
}

/** What a view is given. */
export interface ViewProps {
  /** The segments of the hash behind the view's name. */
  rest: string[];
}

function read(): string {
  return location.hash.startsWith("#/") ? location.hash : "#/";
}

/** A segment as it was before it was encoded; one that somebody typed wrongly stands for itself. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The route that a hash names. */
export function parse(hash: string): Route {
  const [view = "", ...rest] = hash.slice(2).split("/").map(decoded);
  return { view: view || "files", rest };
}

/** The hash of a view. */
export function href(view: string, ...rest: string[]): string {
  return `#/${[view, ...rest.flatMap((part) => part.split("/"))].map(encodeURIComponent).join("/")}`;
}

/** Show a view. */
export function go(view: string, ...rest: string[]): void {
  location.hash = href(view, ...rest);
}

function watch(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

/** The present route; the component is drawn again when it changes. */
export function useRoute(): Route {
  return parse(useSyncExternalStore(watch, read));
}
