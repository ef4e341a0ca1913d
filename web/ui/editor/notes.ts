// Annotations of the layout: the list is replaced as a whole.

import type { Ack, Annotation } from "../kit/messages";
import { send, state } from "../document/store";

export function annotations(): Annotation[] {
  return state().document?.layout.annotations ?? [];
}

export function changeNote(at: number, part: Partial<Annotation>): void {
  void send({ do: "annotate", annotations: annotations().map((note, i) => (i === at ? { ...note, ...part } : note)) });
}

export function addNote(note: Annotation): Promise<Ack | null> {
  return send({ do: "annotate", annotations: [...annotations(), note] });
}

export function removeNotes(at: readonly number[]): void {
  void send({ do: "annotate", annotations: annotations().filter((_, i) => !at.includes(i)) });
}
