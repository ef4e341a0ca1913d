// Runs or studies side by side: settings that differ first, then figures, then curves on demand.

import { useEffect, useMemo, useState, type ReactNode } from "react";
import { digits } from "../../charts/numbers";
import { Missing } from "../kit/missing";
import { Button } from "../kit/parts";
import { href, type ViewProps } from "../kit/route";
import { post, problemOf } from "../kit/api";
import type { Problem } from "../kit/messages";
import type { ComparedRuns, ComparedStudies, Figure } from "../kit/run-messages";
import { when } from "../runs/run";
import { Mark } from "../runs/verdict";
import { Overlay } from "./overlay";
import { count } from "../../charts/counts";

/** More than this many runs are compared by their range, with the extremes named. */
const COLUMNS = 12;

export default function View({ rest }: ViewProps): ReactNode {
  const studies = rest[0] === "studies";
  const ids = studies ? rest.slice(1) : rest;
  const [found, setFound] = useState<ComparedRuns | ComparedStudies | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const key = ids.join("/");
  useEffect(() => {
    let wanted = true;
    setFound(null);
    setProblem(null);
    post<ComparedRuns | ComparedStudies>("/api/compare", studies ? { studies: ids } : { runs: ids }).then(
      (answer) => wanted && setFound(answer),
      (thrown) => wanted && setProblem(problemOf(thrown)),
    );
    return () => {
      wanted = false;
    };
  }, [key, studies]);
  if (problem) {
    return <Missing title="These runs can’t be compared" problem={problem} to="runs">Choose runs to compare</Missing>;
  }
  if (!found) return <p className="loading">Comparing…</p>;
  return "runs" in found ? <Runs of={found} /> : <Studies of={found} />;
}

function letter(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : `${letter(Math.floor(index / 26) - 1)}${letter(index % 26)}`;
}

function Runs({ of }: { of: ComparedRuns }): ReactNode {
  const many = of.runs.length > COLUMNS;
  return (
    <article className="compare">
      <h1>{count(of.runs.length, "run")} compared</h1>
      {of.problems.map((one) => <p key={one} role="status">Left out: {one}</p>)}
      <details className="compare-runs" open={!many}>
        <summary>Runs</summary>
        <ol>
          {of.runs.map((run, i) => (
            <li key={run.id}>
              <b>{letter(i)}</b> <Mark verdict={run.verdict} /> <a href={href("runs", run.id)}>{run.id}</a>{" "}
              <span className="soft">{run.verdict} · {run.engine} · {when(run.started_at)}</span>
            </li>
          ))}
        </ol>
      </details>
      <section>
        <h2>Settings that differ</h2>
        {of.settings.length === 0 ? <p className="soft">None: the same plan, engine and versions.</p> : <Settings of={of} many={many} />}
      </section>
      <section>
        <h2>Figures</h2>
        <p className="soft">Figures of single runs have no intervals; those of a study with repetitions have.</p>
        {many ? <Ranges of={of} /> : <Figures of={of} />}
      </section>
      <Overlay runs={of.runs.map(({ id }, i) => ({ id, name: letter(i) }))} />
    </article>
  );
}

function Settings({ of, many }: { of: ComparedRuns; many: boolean }): ReactNode {
  return (
    <WideTable>
        <thead>
          <tr>
            <th scope="col">setting</th>
            {many ? <th scope="col">values</th> : of.runs.map((_, i) => <th scope="col" key={i}>{letter(i)}</th>)}
          </tr>
        </thead>
        <tbody>
          {of.settings.map(({ key, values }) => (
            <tr key={key}>
              <th scope="row"><code>{key}</code></th>
              {many ? <td>{counted(values)}</td> : values.map((value, i) => <td key={i}>{value}</td>)}
            </tr>
          ))}
        </tbody>
      </WideTable>
  );
}

function counted(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const said = sorted.slice(0, 8).map(([value, count]) => `${value} × ${count}`);
  return sorted.length > 8 ? `${said.join(", ")}, and ${sorted.length - 8} more` : said.join(", ");
}

function Figures({ of }: { of: ComparedRuns }): ReactNode {
  const two = of.runs.length === 2;
  const [all, setAll] = useState(false);
  const differing = of.figures.filter(({ values }) => new Set(values).size > 1);
  const alike = of.figures.length - differing.length;
  const figures = all || differing.length === 0 ? of.figures : differing;
  return (
    <>
      <WideTable>
          <thead>
            <tr>
              <th scope="col">of</th>
              <th scope="col">quantity</th>
              {of.runs.map((_, i) => <th scope="col" className="n" key={i}>{letter(i)}</th>)}
              {two && <th scope="col" className="n">B − A</th>}
              {two && <th scope="col" className="n">change</th>}
            </tr>
          </thead>
          <tbody>
            {figures.map((figure, row) => {
              const [a, b] = figure.values;
              const first = figures[row - 1]?.of !== figure.of;
              return (
                <tr key={`${figure.of} ${figure.measure}`} className={first ? "first-of" : ""}>
                  <th scope="row">{first ? figure.of || "run" : ""}</th>
                  <td>{named(figure)}</td>
                  {figure.values.map((value, i) => <td className="n" key={i}>{value === null ? "–" : number(value)}</td>)}
                  {two && <td className="n">{a != null && b != null ? signed(b - a) : ""}</td>}
                  {two && <td className="n">{a && b != null ? `${signed(100 * (b / a - 1))} %` : ""}</td>}
                </tr>
              );
            })}
          </tbody>
      </WideTable>
      {differing.length > 0 && alike > 0 && (
        <p>
          <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Only what differs" : `${alike} more ${alike === 1 ? "is" : "are"} the same in all`}
          </Button>
        </p>
      )}
    </>
  );
}

function Ranges({ of }: { of: ComparedRuns }): ReactNode {
  return (
    <WideTable>
        <thead>
          <tr>
            <th scope="col">of</th>
            <th scope="col">quantity</th>
            <th scope="col" className="n">least</th>
            <th scope="col" className="n">median</th>
            <th scope="col" className="n">most</th>
            <th scope="col">least and most in</th>
          </tr>
        </thead>
        <tbody>
          {of.figures.map((figure) => {
            const known = figure.values.flatMap((value, i) => (value === null ? [] : [[value, i] as const])).sort((a, b) => a[0] - b[0]);
            const [least, middle, most] = [known[0], known[Math.floor(known.length / 2)], known[known.length - 1]];
            if (!least || !middle || !most) return null;
            return (
              <tr key={`${figure.of} ${figure.measure}`}>
                <th scope="row">{figure.of || "run"}</th>
                <td>{named(figure)}</td>
                {[least, middle, most].map(([value], i) => <td className="n" key={i}>{number(value)}</td>)}
                <td>{[least, most].map(([, i]) => <a key={i} href={href("runs", of.runs[i]?.id ?? "")}>{letter(i)} </a>)}</td>
              </tr>
            );
          })}
        </tbody>
      </WideTable>
  );
}

function named({ measure, unit }: Figure): string {
  return unit ? `${measure} (${unit})` : measure;
}

/** Whole numbers are counts, and have no fraction. */
function number(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
}

function signed(value: number): string {
  const said = number(Math.abs(value));
  if (/^0(\.0+)?$/.test(said)) return "0";
  return `${value > 0 ? "+" : "−"}${said}`;
}

function Studies({ of }: { of: ComparedStudies }): ReactNode {
  const groups = useMemo(() => grouped(of.rows), [of]);
  const keys = of.keys.map((key) => key.split(".").at(-1) ?? key);
  return (
    <article className="compare">
      <h1>Two studies compared</h1>
      <ol className="compare-studies">
        {of.studies.map((id, i) => (
          <li key={id}><b>{letter(i)}</b> <a href={href("studies", id)}>{id}</a> <span className="soft">{of.verdicts[i]}</span></li>
        ))}
      </ol>
      <section>
        <h2>Settings that differ</h2>
        {of.settings.length === 0 ? <p className="soft">None.</p> : (
          <WideTable>
              <thead><tr><th scope="col">setting</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
              <tbody>{of.settings.map(({ key, values }) => <tr key={key}><th scope="row"><code>{key}</code></th>{values.map((value, i) => <td key={i}>{value}</td>)}</tr>)}</tbody>
            </WideTable>
        )}
      </section>
      {[...groups].map(([metric, rows]) => (
        <section key={metric}>
          <h2>{metric}{rows[0]?.unit ? <span className="soft"> {rows[0].unit}</span> : ""}</h2>
          <WideTable>
              <thead>
                <tr>
                  {keys.map((key) => <th scope="col" key={key}>{key}</th>)}
                  <th scope="col">of</th>
                  {["A", "B", "B − A", "95 % interval", "change", "n"].map((name) => <th scope="col" className="n" key={name}>{name}</th>)}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, i) => (
                  <tr key={i} className={row.is_clear ? "clear" : ""}>
                    {row.place.map((value, k) => <td key={k}>{value}</td>)}
                    <td>{row.of}</td>
                    <td className="n">{digits(row.a)}</td>
                    <td className="n">{digits(row.b)}</td>
                    <td className="n strong">{signed(row.difference)}</td>
                    <td className="n">{row.low === null || row.high === null ? "one run" : `${signed(row.low)} to ${signed(row.high)}`}</td>
                    <td className="n">{row.relative === null ? "" : `${signed(100 * row.relative)} %`}{row.is_clear || row.low === null ? "" : " (not significant)"}</td>
                    <td className="n">{row.n_a === row.n_b ? row.n_a : `${row.n_a}, ${row.n_b}`}</td>
                  </tr>
                ))}
              </tbody>
            </WideTable>
        </section>
      ))}
    </article>
  );
}

function grouped<T extends { metric: string }>(rows: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) found.set(row.metric, [...(found.get(row.metric) ?? []), row]);
  return found;
}

/** A table that scrolls by itself where it is wider than the page. */
function WideTable({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="wide-table" tabIndex={0} role="group" aria-label="Table">
      <table className="list compare-table">{children}</table>
    </div>
  );
}
