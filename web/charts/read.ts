// The JSON in the page: `python/dumbbell/report/payload.py` writes it.

interface Packed {
  /** Seconds that times count. */
  tick: number;
  /** Kind and base64 of each array. */
  series: ["times" | "values" | "codes" | "counts", string][];
  content: unknown;
}

/** Read the payload out of the element with this id. The caller says what was written. */
export function read<T>(id: string): T {
  const packed = JSON.parse(document.getElementById(id)?.textContent ?? "") as Packed;
  const arrays = packed.series.map(([kind, base64]) => {
    const buffer = bytes(base64);
    if (kind === "times") return Float64Array.from(new Uint32Array(buffer), (count) => count * packed.tick);
    if (kind === "values") return new Float32Array(buffer);
    return kind === "codes" ? new Uint8Array(buffer) : new Uint32Array(buffer);
  });
  return unpack(packed.content, arrays) as T;
}

/** The same value with arrays in place of `{"series": index}`. */
function unpack(value: unknown, arrays: unknown[]): unknown {
  if (Array.isArray(value)) return value.map((one) => unpack(one, arrays));
  if (typeof value !== "object" || value === null) return value;
  const index = (value as { series?: unknown }).series;
  if (typeof index === "number") return arrays[index];
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unpack(one, arrays)]));
}

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer;
}
