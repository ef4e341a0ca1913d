// The files of the workspace: open one, make one, take one over from another tool.

import { useCallback, useEffect, useState, type ReactNode } from "react";
import { offer } from "../kit/actions";
import { Icon } from "../kit/icons";
import { Button, toast } from "../kit/parts";
import { go, href, type ViewProps } from "../kit/route";
import { get, post, problemOf } from "../kit/api";
import type { FileChange, FileEntry, Files } from "../kit/messages";
import { hand, isCapture } from "../kit/dropped";
import { socket } from "../kit/socket";
import { fileActions } from "./actions";
import { ImportDialog } from "./import";
import { Ask } from "./ask";
import { runSample } from "./make";
import { NewDialog } from "./new";

type Open = { kind: "new" } | { kind: "import"; file: File | null } | { kind: "rename" | "copy" | "delete"; entry: FileEntry } | { kind: "folder" } | null;

const ICONS = { folder: "folder", scenario: "layout", run: "play", study: "outline", file: "file" } as const;

function ago(seconds: number): string {
  const days = (Date.now() / 1000 - seconds) / 86_400;
  const format = new Intl.DateTimeFormat(undefined, days < 1 ? { hour: "2-digit", minute: "2-digit" } : { year: "numeric", month: "short", day: "numeric" });
  return format.format(seconds * 1000);
}

function target(entry: FileEntry): string | null {
  if (entry.kind === "folder") return href("files", entry.path);
  if (entry.kind === "scenario") return href("edit", entry.path);
  if (entry.kind === "run") return href("runs", entry.name);
  if (entry.kind === "study") return href("studies", entry.name);
  return null;
}

export default function View({ rest }: ViewProps): ReactNode {
  const dir = rest.join("/");
  const [entries, setEntries] = useState<FileEntry[] | null>(null);
  const [open, setOpen] = useState<Open>(null);
  const [over, setOver] = useState(false);

  const read = useCallback(() => {
    get<Files>("/api/files", { dir }).then((files) => setEntries(files.entries), (thrown) => toast(problemOf(thrown)));
  }, [dir]);
  useEffect(read, [read]);
  useEffect(() => socket.subscribe("files", read), [read]);
  useEffect(() => offer(() => fileActions((kind) => setOpen(kind === "import" ? { kind, file: null } : { kind }))), []);

  const change = async (body: FileChange): Promise<boolean> => {
    try {
      await post("/api/files", body);
      read();
      return true;
    } catch (thrown) {
      toast(problemOf(thrown));
      return false;
    }
  };
  const below = (name: string): string => (dir ? `${dir}/${name}` : name);
  const close = (): void => setOpen(null);
  const scenarios = entries?.filter((entry) => entry.kind === "scenario") ?? [];

  return (
    <div
      className={over ? "files over" : "files"}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file && isCapture(file.name)) hand(file), go("captures");
        else if (file) setOpen({ kind: "import", file });
      }}
    >
      <header className="files-head">
        <h1>
          <a href={href("files")}>Workspace</a>
          {rest.map((part, i) => (
            <span key={i}>
              <Icon name="chevron" size={12} />
              <a href={href("files", rest.slice(0, i + 1).join("/"))}>{part}</a>
            </span>
          ))}
        </h1>
        <div className="files-actions">
          <Button icon="folder" look="quiet" onClick={() => setOpen({ kind: "folder" })}>
            New folder
          </Button>
          <Button icon="import" onClick={() => setOpen({ kind: "import", file: null })}>
            Import
          </Button>
          <Button icon="add" look="main" onClick={() => setOpen({ kind: "new" })}>
            New scenario
          </Button>
        </div>
      </header>
      {entries && entries.length === 0 && (
        <section className="welcome">
          <h2>Draw your first network</h2>
          <p>
            Hosts, switches, routers, and links with a rate, a delay and a queue in each direction. Press Run, and the kernel's own TCP goes over it:
            cwnd, RTT and queues while it runs, a report with a verdict when it is done.
          </p>
          <p>
            <Button icon="play" look="main" onClick={() => void runSample(dir)} title="Writes sample.toml into this folder, and simulates it">
              Run a sample network
            </Button>{" "}
            <Button icon="add" onClick={() => setOpen({ kind: "new" })}>
              New scenario
            </Button>{" "}
            <Button icon="import" onClick={() => setOpen({ kind: "import", file: null })}>
              Import from MiniEdit, containerlab, Kathará
            </Button>
          </p>
        </section>
      )}
      {entries && entries.length > 0 && (
        <table className="list">
          <caption className="visually-hidden">Files{dir && ` in ${dir}`}</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" className="about">
                What it is
              </th>
              <th scope="col" className="n">
                Changed
              </th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr key={entry.path} data-path={entry.path}>
                <th scope="row">
                  <Icon name={ICONS[entry.kind]} />
                  {target(entry) ? <a href={target(entry) ?? ""}>{entry.name}</a> : <span>{entry.name}</span>}
                </th>
                <td className="about">{entry.title}</td>
                <td className="n">{ago(entry.modified)}</td>
                <td className="row-actions">
                  {entry.kind === "scenario" && (
                    <>
                      <Button look="quiet" icon="copy" title={`Copy ${entry.name}`} onClick={() => setOpen({ kind: "copy", entry })} />
                      <Button look="quiet" icon="text" title={`Rename ${entry.name}`} onClick={() => setOpen({ kind: "rename", entry })} />
                      <Button look="quiet" icon="trash" title={`Delete ${entry.name}`} onClick={() => setOpen({ kind: "delete", entry })} />
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {open?.kind === "new" && <NewDialog dir={dir} taken={scenarios.map((entry) => entry.name)} onClose={close} />}
      {open?.kind === "import" && <ImportDialog dir={dir} file={open.file} onClose={close} />}
      {open?.kind === "folder" && (
        <Ask title="New folder" label="Name" value="" does="Make it" onClose={close} onAnswer={(name) => change({ do: "folder", path: below(name) })} />
      )}
      {open?.kind === "rename" && (
        <Ask
          title={`Rename ${open.entry.name}`}
          label="New name"
          value={open.entry.name}
          does="Rename"
          onClose={close}
          onAnswer={(name) => change({ do: "rename", path: open.entry.path, to: below(name) })}
        />
      )}
      {open?.kind === "copy" && (
        <Ask
          title={`Copy ${open.entry.name}`}
          label="Name of the copy"
          value={open.entry.name.replace(/(\.toml)?$/, "-copy.toml")}
          does="Copy"
          onClose={close}
          onAnswer={async (name) => {
            const done = await change({ do: "copy", path: open.entry.path, to: below(name) });
            if (done) go("edit", below(name));
            return done;
          }}
        />
      )}
      {open?.kind === "delete" && (
        <Ask
          title={`Delete ${open.entry.name}?`}
          label=""
          value=""
          does="Move it to .trash"
          onClose={close}
          onAnswer={() => change({ do: "delete", path: open.entry.path })}
        />
      )}
    </div>
  );
}
