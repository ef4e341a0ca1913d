// Play, pause, step; and how far it is.

import type { ReactNode } from "react";
import { digits } from "../../charts/numbers";
import { Button } from "../kit/parts";
import type { Bench } from "./bench";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 100];

export function Player({ bench }: { bench: Bench }): ReactNode {
  const { mode, time, duration, speed, busy, wall, shown } = bench;
  const rtt = shown?.legend.base_rtt_s ?? 0.1;
  const at = mode === "whole" ? (shown?.now ?? 0) : time;
  return (
    <div className="player" role="group" aria-label="Playing">
      {mode === "playing" ? (
        <Button icon="pause" title="Pause" onClick={() => bench.pause()} />
      ) : (
        <Button icon="play" title={mode === "whole" ? "Play from the beginning" : "Play on"} disabled={!shown} onClick={() => bench.play()} />
      )}
      <Button icon="step" title={`One round trip further (${digits(rtt * 1e3)} ms)`} disabled={!shown} onClick={() => bench.step(rtt)} />
      <Button aria-pressed={mode === "whole"} onClick={() => bench.whole()}>
        Whole run
      </Button>
      <label className="player-speed">
        <span className="soft">Speed</span>
        <select value={speed} onChange={(event) => bench.setSpeed(Number(event.target.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>{`${one} ×`}</option>
          ))}
        </select>
      </label>
      <span className="player-time" aria-live="off">
        <progress max={duration} value={at} aria-label="Simulated time" />
        <span>
          {at.toFixed(mode === "whole" ? 1 : 3)} of {digits(duration)} s
        </span>
      </span>
      <span className="soft player-cost">{mode === "whole" && !busy && wall > 0 ? `simulated in ${wall.toFixed(0)} ms` : ""}</span>
    </div>
  );
}
