// A scroll to what was asked for: on a narrow page it may be far beneath.

/** Pixels of a part that are to be seen at least. */
const LEAST = 120;

export function reveal(part: Element | null): void {
  const box = part?.getBoundingClientRect();
  if (box && (box.top > innerHeight - LEAST || box.bottom < LEAST)) part?.scrollIntoView({ block: "nearest" });
}
