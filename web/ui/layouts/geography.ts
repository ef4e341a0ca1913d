// Where nodes stand on the earth, as far as their names leave room.

import { distances, type Net, type Places } from "./net";

/** Share of the nodes without leaves that have a place. */
const ENOUGH = 0.6;

export function isPlaced(net: Net): boolean {
  const inner = [...net.names.keys()].filter((node) => (net.next[node]?.length ?? 0) > 1 || net.spots[node]);
  const places = new Set(inner.flatMap((node) => (net.spots[node] ? [`${net.spots[node].latitude} ${net.spots[node].longitude}`] : [])));
  return places.size > 2 && inner.filter((node) => net.spots[node]).length >= ENOUGH * inner.length;
}

/**
 * A map on which shapes are right in its middle (equirectangular, Snyder: "Map Projections", USGS 1987, section 12), cut where
 * the widest gap between longitudes is. Nodes without a place stand at the mean of their neighbours.
 */
export function geography(net: Net): Places {
  const known = [...net.names.keys()].filter((node) => net.spots[node]);
  const spots = known.map((node) => net.spots[node] ?? { latitude: 0, longitude: 0 });
  const middle = (Math.min(...spots.map(({ latitude }) => latitude)) + Math.max(...spots.map(({ latitude }) => latitude))) / 2;
  const east = [...new Set(spots.map(({ longitude }) => (longitude + 720) % 360))].sort((a, b) => a - b);
  let [start, widest] = [east[0] ?? 0, 0];
  east.forEach((one, i) => {
    const gap = (east[(i + 1) % east.length] ?? 0) - one + (i + 1 === east.length ? 360 : 0);
    if (gap > widest) [start, widest] = [east[(i + 1) % east.length] ?? 0, gap];
  });
  const shrink = Math.max(0.2, Math.cos((middle * Math.PI) / 180));
  const raw = net.names.map((_, node) => {
    const spot = net.spots[node];
    return spot ? { x: ((spot.longitude + 720 - start) % 360) * shrink, y: -spot.latitude } : null;
  });
  // So large that two neighbours have a cell each, as a rule.
  const { width, height } = net.cell;
  const near = known.map((node) => {
    const at = raw[node];
    return Math.min(...known.flatMap((other) => (other === node || !at || !raw[other] ? [] : [Math.hypot(at.x - raw[other].x, at.y - raw[other].y)].filter((far) => far > 0))));
  });
  const typical = near.filter(Number.isFinite).sort((a, b) => a - b)[Math.floor(near.length * 0.4)] ?? 1;
  const hung = net.names.length / Math.max(1, known.length);
  const scale = (Math.max(width, height) * 1.25 * Math.sqrt(hung)) / typical;
  const found: Places = raw.map((at) => (at ? { x: at.x * scale, y: at.y * scale } : { x: 0, y: 0 }));
  const placed = new Set(known);
  const far = distances(net, known);
  const order = [...net.names.keys()].filter((node) => !placed.has(node)).sort((a, b) => (far[a] ?? 0) - (far[b] ?? 0) || a - b);
  const hanging = new Map<number, number>();
  for (const node of order) {
    const beside = (net.next[node] ?? []).filter((other) => placed.has(other));
    if (beside.length > 0) found[node] = { x: beside.reduce((sum, other) => sum + (found[other]?.x ?? 0), 0) / beside.length, y: beside.reduce((sum, other) => sum + (found[other]?.y ?? 0), 0) / beside.length };
    // Below its node; several around it.
    const count = hanging.get(beside[0] ?? -1) ?? 0;
    hanging.set(beside[0] ?? -1, count + 1);
    const turn = Math.PI / 2 + count * 2.4;
    const at = found[node] ?? { x: 0, y: 0 };
    found[node] = { x: at.x + 0.85 * width * Math.cos(turn), y: at.y + 0.85 * height * Math.sin(turn) };
    placed.add(node);
  }
  return found;
}
