// A series that grows while a run goes on, and stays small: the last minute as it came, before it extremes of intervals.

/** Points that are kept as they came: a minute at ten a second. */
const RECENT = 600;
/** Points at which the older ones are thinned out, and about how many of those remain. */
const MOST = 4000;
const REMAIN = 2000;

/** The smallest of 1, 2, 5, 10, ... (times a power of ten) that is no smaller, as reports thin out. */
export function roundWidth(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  for (const step of [1, 2, 5]) if (step * power >= atLeast * (1 - 1e-9)) return step * power;
  return 10 * power;
}

export class Series {
  private t = new Float64Array(256);
  private v = new Float32Array(256);
  private n = 0;

  get length(): number {
    return this.n;
  }

  /** Times, in seconds. They change when a value is added. */
  get times(): Float64Array {
    return this.t.subarray(0, this.n);
  }

  get values(): Float32Array {
    return this.v.subarray(0, this.n);
  }

  get last(): number {
    return this.n ? (this.v[this.n - 1] as number) : Number.NaN;
  }

  /** Add a value; null: a gap. A value that is not later than the last one is left out. */
  push(time: number, value: number | null): void {
    if (this.n && time <= (this.t[this.n - 1] as number)) return;
    if (this.n === MOST) this.thin();
    if (this.n === this.t.length) this.grow();
    this.t[this.n] = time;
    this.v[this.n++] = value ?? Number.NaN;
  }

  private grow(): void {
    const [t, v] = [new Float64Array(2 * this.n), new Float32Array(2 * this.n)];
    t.set(this.t);
    v.set(this.v);
    [this.t, this.v] = [t, v];
  }

  /** Of each interval of the older points, the lowest and the highest stay, each at its own time; and gaps. */
  private thin(): void {
    const older = this.n - RECENT;
    const width = roundWidth((2 * ((this.t[older] as number) - (this.t[0] as number))) / REMAIN);
    let kept = 0;
    const keep = (at: number): void => {
      this.t[kept] = this.t[at] as number;
      this.v[kept++] = this.v[at] as number;
    };
    for (let i = 0; i < older; ) {
      const bucket = Math.floor((this.t[i] as number) / width);
      let [low, high, end] = [-1, -1, i];
      for (; end < older && Math.floor((this.t[end] as number) / width) === bucket; end++) {
        const value = this.v[end] as number;
        if (Number.isNaN(value)) continue;
        if (low < 0 || value < (this.v[low] as number)) low = end;
        if (high < 0 || value > (this.v[high] as number)) high = end;
      }
      // Copied upwards within one array: what is kept never overtakes what is read.
      if (low < 0) keep(i);
      else if (low === high) keep(low);
      else keep(Math.min(low, high)), keep(Math.max(low, high));
      i = end;
    }
    this.t.copyWithin(kept, older, this.n);
    this.v.copyWithin(kept, older, this.n);
    this.n = kept + RECENT;
  }
}

/** A series of values that are all there already. */
export function valuesOf({ t, y }: { t: readonly number[]; y: readonly (number | null)[] }): Series {
  const series = new Series();
  t.forEach((time, at) => series.push(time, y[at] ?? null));
  return series;
}
