// The one time axis of all plots.

export interface Timed {
  /** Show what the axis shows now. */
  follow(): void;
}

const SHORTEST = 1e-4;

export class TimeAxis {
  min = 0;
  max: number;
  private readonly plots: Timed[] = [];
  private readonly listeners: (() => void)[] = [];

  constructor(public duration: number) {
    this.max = duration;
  }

  /** The run goes on until `duration`: an axis that shows all of it goes on showing all of it. */
  extend(duration: number): void {
    const whole = this.isWhole;
    this.duration = Math.max(this.duration, duration);
    if (whole) this.reset();
  }

  add(plot: Timed): void {
    this.plots.push(plot);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get isWhole(): boolean {
    return this.min === 0 && this.max === this.duration;
  }

  /** Show the time from `min` to `max`, kept within the run. */
  show(min: number, max: number): void {
    const span = Math.min(Math.max(max - min, SHORTEST), this.duration);
    this.min = Math.min(Math.max(0, min), this.duration - span);
    this.max = this.min + span;
    for (const plot of this.plots) plot.follow();
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.show(0, this.duration);
  }

  /** Show `factor` times the span, `center` staying where it is. */
  zoom(factor: number, center = (this.min + this.max) / 2): void {
    this.show(center - (center - this.min) * factor, center + (this.max - center) * factor);
  }

  /** Move by a share of the span. */
  pan(share: number): void {
    const span = this.max - this.min;
    const min = Math.min(Math.max(0, this.min + share * span), this.duration - span);
    this.show(min, min + span);
  }
}
