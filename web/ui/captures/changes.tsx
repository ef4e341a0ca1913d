// What other algorithms and queues would do, over paths drawn from the intervals.

import { useId, useState, type ReactNode } from "react";
import { post } from "../kit/api";
import { Button, ProblemText } from "../kit/parts";
import { Table } from "./answer";
import type { ChangesAsked, Fitted, Outcomes } from "./messages";
import { useAnswer } from "./use-answer";

/** Algorithms that are asked about at first. */
const USUAL = ["bbr3", "bbr", "cubic", "reno"];
const QUEUES = ["fq-codel", "codel", "pie"];
/** Changes at a time: this many take half a minute on a slow machine. */
const MOST = 12;

export function Changes({ fitted }: { fitted: Fitted }): ReactNode {
  const own = useId();
  const [cc, setCc] = useState(fitted.cc);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(["cc=bbr3", "cc=bbr", "queue=fq-codel"]));
  const [found, setFound] = useState<Outcomes | null>(null);
  const { isWaiting, problem, ask, cancel } = useAnswer();
  const listed = [...USUAL, ...fitted.algorithms.filter((name) => !USUAL.includes(name))].filter((name) => fitted.algorithms.includes(name) && name !== cc);
  const asked = [...listed.map((name) => `cc=${name}`), ...QUEUES.map((name) => `queue=${name}`)].filter((one) => chosen.has(one));
  const repeat = (): void => {
    const body: ChangesAsked = { cc, changes: asked };
    ask((signal) => post<Outcomes>(`/api/fit/${fitted.id}/what-if`, body, signal), setFound);
  };
  const box = (one: string): ReactNode => (
    <label key={one}>
      <input
        type="checkbox"
        checked={chosen.has(one)}
        onChange={() => {
          const next = new Set(chosen);
          if (!next.delete(one)) next.add(one);
          setChosen(next);
        }}
      />{" "}
      {one.split("=")[1]}
    </label>
  );
  return (
    <section className="captures-changes" aria-label="What if">
      <h2>What would another algorithm do?</h2>
      <div className="captures-choice">
        <label htmlFor={own}>The capture’s congestion control, which packets do not tell</label>
        <select id={own} value={cc} onChange={(event) => setCc(event.target.value)}>
          {fitted.algorithms.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <fieldset className="captures-boxes">
        <legend>Congestion control in its place</legend>
        {listed.map((name) => box(`cc=${name}`))}
      </fieldset>
      <fieldset className="captures-boxes">
        <legend>Queue discipline at the bottleneck</legend>
        {QUEUES.map((name) => box(`queue=${name}`))}
      </fieldset>
      <p className="captures-do">
        <Button look="main" icon="play" disabled={isWaiting || asked.length === 0 || asked.length > MOST} onClick={repeat}>
          Repeat the transfer
        </Button>
        {isWaiting && (
          <>
            <progress aria-label="Simulating" />
            <Button icon="close" onClick={cancel}>
              Cancel
            </Button>
          </>
        )}
        {asked.length > MOST && <span className="soft">At most {MOST} at a time.</span>}
      </p>
      {problem && <ProblemText problem={problem} />}
      {found && (
        <div className="captures-repeated" aria-live="polite">
          {found.answer.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          <Table
            title={`The transfer again, simulated ${found.runs} times each over paths within these intervals`}
            head={["", "Time", "Goodput", "Sent again", "RTT", "Limited by"]}
            rows={found.table}
          />
        </div>
      )}
    </section>
  );
}
