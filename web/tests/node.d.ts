// What the tests use of Node's own modules: the pages have nothing of them, so their types stay away from the pages' checks.

declare module "node:test" {
  export default function test(name: string, run: () => void): void;
}
declare module "node:assert/strict" {
  const assert: {
    equal(found: unknown, wanted: unknown, message?: string): void;
    deepEqual(found: unknown, wanted: unknown, message?: string): void;
    ok(found: unknown, message?: string): void;
  };
  export default assert;
}
declare const process: { cpuUsage(before?: { user: number; system: number }): { user: number; system: number } };
