// A new scenario: a name, and something to begin with.

import { useEffect, useId, useState, type ReactNode } from "react";
import { get, problemOf } from "../kit/api";
import { Button, Dialog, toast } from "../kit/parts";
import type { Template } from "../kit/messages";
import { makeAndOpen } from "./make";

const BLANK = "blank";

function free(name: string, taken: readonly string[]): string {
  for (let i = 1; ; i++) {
    const tried = `${name}${i === 1 ? "" : `-${i}`}.toml`;
    if (!taken.includes(tried)) return tried;
  }
}

export function NewDialog({ dir, taken, onClose }: { dir: string; taken: readonly string[]; onClose: () => void }): ReactNode {
  const id = useId();
  const [name, setName] = useState(free("mine", taken));
  const [named, setNamed] = useState(false);
  const [templates, setTemplates] = useState<Template[]>([]);
  const [template, setTemplate] = useState(BLANK);
  useEffect(() => {
    get<Template[]>("/api/templates").then(setTemplates, (thrown) => toast(problemOf(thrown)));
  }, []);
  const make = async (): Promise<void> => {
    const file = /\.toml$/.test(name) ? name : `${name}.toml`;
    const path = dir ? `${dir}/${file}` : file;
    await makeAndOpen({ do: "new", path, template }, onClose);
  };
  const choose = (one: Template): void => {
    setTemplate(one.name);
    if (!named) setName(free(one.name === BLANK ? "mine" : one.name, taken));
  };
  return (
    <Dialog
      title="New scenario"
      onClose={onClose}
      wide
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" onClick={() => void make()} disabled={!name.trim()}>
            Make it
          </Button>
        </>
      }
    >
      <form className="ask" onSubmit={(event) => (event.preventDefault(), void make())}>
        <label htmlFor={id}>File</label>
        <input id={id} value={name} autoFocus spellCheck={false} onChange={(event) => (setName(event.target.value), setNamed(true))} />
      </form>
      {(["start", "bundled"] as const).map((group) => (
        <fieldset key={group} className="templates">
          <legend>{group === "start" ? "Begin with" : "Or with a scenario that comes with dumbbell"}</legend>
          {templates.length === 0 && <p className="beneath">Reading them …</p>}
          <div className="template-grid">
            {templates
              .filter((one) => one.group === group)
              .map((one) => (
                <label key={one.name} className="template">
                  <input type="radio" name="template" checked={template === one.name} onChange={() => choose(one)} onDoubleClick={() => void make()} />
                  <span>
                    <b>{one.name}</b>
                    <small>{one.title}</small>
                  </span>
                </label>
              ))}
          </div>
        </fieldset>
      ))}
    </Dialog>
  );
}
