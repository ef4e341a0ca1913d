// The configuration of a router's daemons: edited as text, checked by FRR, written beside the scenario.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { get, post, problemOf } from "../kit/api";
import type { Configuration, ConfigurationCheck, Problem } from "../kit/messages";
import { Button, Dialog, ProblemText, toast } from "../kit/parts";

interface Props {
  /** Path of the scenario. */
  path: string;
  router: string;
  /** What is to be known before it is saved. */
  note?: string;
  onClose: () => void;
}

export function ConfigurationDialog({ path, router, note, onClose }: Props): ReactNode {
  const [now, setNow] = useState<Configuration | null>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<ConfigurationCheck | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    get<Configuration>("/api/configuration", { path, router }).then(
      (loaded) => (setNow(loaded), setText(loaded.text)),
      (thrown) => setProblem(problemOf(thrown)),
    );
  }, [path, router]);
  const ask = async (route: string, body: object): Promise<ConfigurationCheck | null> => {
    setBusy(true);
    setProblem(null);
    try {
      const answer = await post<ConfigurationCheck>(route, body);
      setFound(answer);
      if (answer.line !== null) mark(answer.line);
      return answer;
    } catch (thrown) {
      setProblem(problemOf(thrown));
      return null;
    } finally {
      setBusy(false);
    }
  };
  /** Selects a line, and brings it into sight. */
  const mark = (line: number): void => {
    const lines = text.split("\n");
    const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
    if (area.current) area.current.scrollTop = (area.current.scrollHeight / lines.length) * Math.max(0, line - 5);
  };
  const save = async (): Promise<void> => {
    const answer = await ask("/api/configuration", { path, router, text });
    if (!answer) return;
    toast(`${now?.file} is saved`);
    setNow(now && { ...now, is_written: true, text });
    if (answer.line === null) onClose();
  };
  return (
    <Dialog
      title={`Configuration of ${router}`} onClose={onClose} wide
      actions={
        <>
          <Button disabled={!now || busy} onClick={() => void ask("/api/configuration/check", { router, text })}>Check</Button>
          <Button look="main" icon="save" disabled={!now || busy} onClick={() => void save()}>Save</Button>
        </>
      }
    >
      {now && (
        <p className="soft">
          {now.is_written ? <>The file <code>{now.file}</code> of the scenario. </> : <>What follows from the router’s keys. Saving writes <code>{now.file}</code> beside the scenario, which names it from then on. </>}
          {note}
        </p>
      )}
      <textarea
        ref={area} className="configuration-text" aria-label={`Configuration of ${router}`} rows={18} spellCheck={false} wrap="off" value={text} disabled={!now}
        onChange={(event) => (setText(event.target.value), setFound(null))}
      />
      <div role="status">
        {found && (found.line === null ? <p>{found.said || "FRR understands all lines."}</p> : <p className="cut">Line {found.line}: {found.said}</p>)}
        {problem && <ProblemText problem={problem} />}
      </div>
    </Dialog>
  );
}
