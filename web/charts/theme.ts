// Colours of a page, read once from its style sheet and again when they change. Charts ask here, not the page.

const NAMES = ["ground", "raised", "ink", "soft", "grid", "reference", "queue", "queue-fill", "drop", "mark"] as const;

export type Name = (typeof NAMES)[number];

/** Something with a colour on white and one on black. */
export interface Hued {
  light: string;
  dark: string;
}

export const FONT = '11px "Segoe UI", -apple-system, "Helvetica Neue", Roboto, "Liberation Sans", Arial, sans-serif';

/** The font at the size that a canvas of this pixel ratio needs. */
export function fontAt(ratio: number): string {
  return FONT.replace("11px", `${11 * ratio}px`);
}

export class Theme {
  private colors = new Map<Name, string>();
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly listeners: (() => void)[] = [];
  private printing = false;

  constructor() {
    this.read();
    this.dark.addEventListener("change", () => this.change());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  color(name: Name): string {
    return this.colors.get(name) ?? "";
  }

  /** The colour of a group or a state; a line without either has the queue's. */
  of(hued: Hued | undefined): string {
    if (!hued) return this.color("queue");
    return this.dark.matches && !this.printing ? hued.dark : hued.light;
  }

  /** Call `redraw` whenever colours change: another theme, or paper, which is white in any theme. */
  onChange(redraw: () => void): void {
    this.listeners.push(redraw);
  }

  private print(on: boolean): void {
    this.printing = on;
    document.documentElement.classList.toggle("paper", on);
    this.change();
  }

  private change(): void {
    this.read();
    for (const listener of this.listeners) listener();
  }

  private read(): void {
    const style = getComputedStyle(document.documentElement);
    this.colors = new Map(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
}
