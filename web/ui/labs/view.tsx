// Labs: those that are up, or one of them.

import { useCallback, useEffect, useState, type ReactNode } from "react";
import { Button, toast } from "../kit/parts";
import { go, href, type ViewProps } from "../kit/route";
import { get, problemOf } from "../kit/api";
import type { LabState } from "../kit/run-messages";
import { endLab } from "../runs/start";
import { when } from "../runs/run";
import { LabView } from "./lab";

const AGAIN_MS = 3000;

export default function View({ rest }: ViewProps): ReactNode {
  const [id] = rest;
  return id ? <LabView key={id} id={id} /> : <Labs />;
}

function Labs(): ReactNode {
  const [labs, setLabs] = useState<LabState[] | null>(null);
  const read = useCallback(() => {
    get<LabState[]>("/api/labs").then(setLabs, (thrown) => toast(problemOf(thrown)));
  }, []);
  useEffect(() => {
    read();
    const timer = setInterval(() => document.hidden || read(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [read]);
  return (
    <div className="results">
      <header className="results-head">
        <h1>Labs</h1>
      </header>
      {labs?.length === 0 && (
        <p className="nothing">
          No lab is up. A lab is a network that stays: open a scenario and press <b>Lab</b>, then open terminals in its hosts and routers, and change its links.
        </p>
      )}
      {labs && labs.length > 0 && (
        <table className="list results-table labs-table">
          <thead>
            <tr>
              <th scope="col">lab</th>
              <th scope="col">scenario</th>
              <th scope="col" className="n">nodes</th>
              <th scope="col" className="n">terminals</th>
              <th scope="col">started</th>
              <th scope="col" aria-label="Actions" />
            </tr>
          </thead>
          <tbody>
            {labs.map((lab) => (
              <tr key={lab.id}>
                <th scope="row"><a href={href("labs", lab.id)}>{lab.id}</a></th>
                <td>{lab.scenario.endsWith(".toml") ? <a href={href("edit", lab.scenario)}>{lab.scenario}</a> : lab.scenario}</td>
                <td className="n">{lab.nodes.length}</td>
                <td className="n">{lab.terminals.length}</td>
                <td>{when(lab.started)}{lab.mine ? "" : " by the command line"}</td>
                <td className="n">
                  <Button onClick={() => go("labs", lab.id)}>Open</Button>{" "}
                  <Button look="danger" onClick={() => void endLab(lab.id).then(read)}>End</Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!labs && <p className="loading">Loading…</p>}
    </div>
  );
}
