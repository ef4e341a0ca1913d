// Nodes that stand upon one another move apart, each as little as it takes.

import type { Cell, Places } from "./net";

/** Rounds after which all moves further apart, as there is too little room. */
const ROUNDS = 60;

/** Moves nodes until no two share a cell's room. Nodes that have room stay where they are. */
export function apart(at: Places, cell: Cell): Places {
  const found = at.map((one) => ({ ...one }));
  while (!parted(found, cell)) {
    for (const one of found) {
      one.x *= 1.15;
      one.y *= 1.15;
    }
  }
  return found;
}

/** True if all have room now. */
function parted(found: Places, { width, height }: Cell): boolean {
  for (let round = 0; round < ROUNDS; round++) {
    // Nodes from left to right: those behind one that are more than a width away need no look.
    const order = [...found].sort((a, b) => a.x - b.x);
    let moved = false;
    order.forEach((one, i) => {
      for (let j = i + 1; j < order.length; j++) {
        const other = order[j];
        // Those before may have moved: two widths are enough, and the next round sees the others.
        if (!other || other.x - one.x > 2 * width) break;
        const [dx, dy] = [other.x - one.x, other.y - one.y];
        const [overX, overY] = [width - Math.abs(dx), height - Math.abs(dy)];
        if (overX <= 0.5 || overY <= 0.5) continue;
        moved = true;
        // A little more than half: two that have met several times part at last.
        if (overX / width < overY / height || (dx !== 0 && dy === 0)) {
          const by = ((overX + 1) / 2) * (dx < 0 ? -1 : 1);
          one.x -= by;
          other.x += by;
        } else {
          const by = ((overY + 1) / 2) * (dy < 0 ? -1 : 1);
          one.y -= by;
          other.y += by;
        }
      }
    });
    if (!moved) return true;
  }
  return false;
}
