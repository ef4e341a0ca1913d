// Commands that carry out what the page shows.

/** A word of a command line. */
export function quoted(text: string): string {
  return /^[\w./=:%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that simulates a scenario with other values. */
export function runCommand(path: string, overrides: readonly string[]): string {
  return ["dumbbell", "run", path, ...overrides.flatMap((one) => ["--set", one]), "--engine", "simulate"].map(quoted).join(" ");
}
