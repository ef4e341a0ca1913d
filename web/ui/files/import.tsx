// Networks of other tools: what is taken over and what is not is said before anything is written.

import { useEffect, useState, type ReactNode } from "react";
import { post, problemOf, refusal } from "../kit/api";
import { Button, Dialog, ProblemText } from "../kit/parts";
import type { Import, Imported, Problem } from "../kit/messages";
import { makeAndOpen } from "./make";

/** The text of a file. Raises `Refused`: what is no UTF-8 would come in with other letters than the file has. */
async function textOf(file: File): Promise<string> {
  let content: ArrayBuffer;
  try {
    content = await file.arrayBuffer();
  } catch {
    throw refusal(`${file.name} can’t be read`, "it is a folder, or it has changed since it was chosen", "choose it again");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw refusal(`${file.name} is not UTF-8 text`, "", "save it as UTF-8");
  }
}

export function ImportDialog({ dir, file, onClose }: { dir: string; file: File | null; onClose: () => void }): ReactNode {
  const [chosen, setChosen] = useState(file);
  const [found, setFound] = useState<Imported | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [name, setName] = useState("");
  const [routers, setRouters] = useState<NonNullable<Import["routers"]>>("static");
  const [isRead, setIsRead] = useState(false);
  const choose = (file: File | null): void => {
    setChosen(file);
    setFound(null);
    setName("");
  };
  useEffect(() => {
    if (!chosen) return;
    let isOld = false;
    setIsRead(false);
    setProblem(null);
    void (async () => {
      try {
        const body: Import = { name: chosen.name, text: await textOf(chosen), routers };
        const imported = await post<Imported>("/api/import", body);
        if (isOld) return;
        setFound(imported);
        setIsRead(true);
        setName((typed) => typed || (dir ? `${dir}/${imported.name}` : imported.name));
      } catch (thrown) {
        if (isOld) return;
        setFound(null);
        setProblem(problemOf(thrown));
      }
    })();
    return () => {
      isOld = true;
    };
  }, [chosen, dir, routers]);
  const make = async (): Promise<void> => {
    if (!found) return;
    await makeAndOpen({ do: "new", path: name, text: found.text, layout: found.layout, foreign: true }, onClose);
  };
  return (
    <Dialog
      title="Import a network"
      onClose={onClose}
      wide
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={!found || !isRead} onClick={() => void make()}>
            Save and open
          </Button>
        </>
      }
    >
      <p>
        MiniEdit (<code>.mn</code>), containerlab (<code>.clab.yml</code>), Kathará (<code>lab.conf</code>), a Mahimahi trace, or a scenario. Nothing is
        written before you save, and no command in it is run.
      </p>
      <label className="drop">
        <span>{chosen ? chosen.name : "Choose a file, or drop it here"}</span>
        <input type="file" onChange={(event) => choose(event.target.files?.[0] ?? null)} />
      </label>
      {problem && <ProblemText problem={problem} />}
      {found && (
        <>
          <label className="ask">
            Save as
            <input value={name} spellCheck={false} onChange={(event) => setName(event.target.value)} />
          </label>
          {found.unconfigured.length > 0 && (
            <label className="ask">
              Routers without a configuration ({found.unconfigured.join(", ")})
              <select value={routers} onChange={(event) => setRouters(event.target.value as typeof routers)}>
                <option value="static">Shortest paths</option>
                <option value="frr">FRRouting’s daemons, which wait for vtysh</option>
              </select>
            </label>
          )}
          {found.notes.length > 0 && (
            <>
              <h3>Left out, or read in a way that you should know</h3>
              <ul className="notes">
                {found.notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
            </>
          )}
          <pre className="preview">{found.text}</pre>
        </>
      )}
    </Dialog>
  );
}
