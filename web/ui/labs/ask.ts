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
