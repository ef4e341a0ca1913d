// Requests about labs whose refusals the page says.

import { toast } from "../kit/parts";
import { post, problemOf } from "../kit/api";

/** POST; null if it was refused. */
export async function ask<T>(path: string, body: object): Promise<T | null> {
  try {
    return await post<T>(path, body);
  } catch (thrown) {
    toast(problemOf(thrown));
    return null;
  }
}

/** Capture ten seconds at an interface: the browser keeps the file. */
export function capture(base: string, node: string, interface_: string): void {
  toast(`Capturing ${node} ${interface_} for 10 s`);
  const query = new URLSearchParams({ node, interface: interface_, seconds: "10" });
  location.assign(`${base}/capture?${query}`);
}
