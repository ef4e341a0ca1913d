// The packets at an interface or on the links of a cable, as they come: filtered, one of them with all its fields, saved.

import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { get, post, problemOf, remove } from "../kit/api";
import { useRedraw } from "../kit/redraw";
import { reveal } from "../kit/reveal";
import { Button, toast } from "../kit/parts";
import type { ListedPackets, PacketList, PacketRow, PacketWhole } from "../kit/run-messages";
import { socket } from "../kit/socket";
import { count } from "../../charts/counts";

/** Rows that the page keeps: the server keeps no more. */
const MOST = 20_000;
const ROW_PX = 22;
/** Rows that are drawn beyond those in sight. */
const BEYOND = 10;

interface Rows {
  rows: PacketRow[];
  last: ListedPackets | null;
}

/** The packets of a list that have all words. */
function usePackets(id: string, words: string): Rows {
  const soon = useRedraw();
  const found = useRef<Rows>({ rows: [], last: null });
  useEffect(() => {
    found.current = { rows: [], last: null };
    soon(0);
    return socket.subscribe(
      `packets/${id}/${words}`,
      (event) => {
        const now = found.current;
        const told = event as ListedPackets;
        // After a lost connection all comes again.
        const known = now.rows.at(-1)?.number ?? -1;
        for (const row of told.rows) if (row.number > known) now.rows.push(row);
        let gone = Math.max(0, now.rows.length - MOST);
        while (gone < now.rows.length && (now.rows[gone]?.number ?? 0) < told.first) gone++;
        if (gone > 0) now.rows.splice(0, gone);
        now.last = told;
        soon(100);
      },
      null,
      toast,
    );
  }, [id, words]);
  return found.current;
}

export function Packets({ list, onClose }: { list: PacketList; onClose: () => void }): ReactNode {
  const [typed, setTyped] = useState("");
  const [words, setWords] = useState("");
  const [whole, setWhole] = useState<PacketWhole | null>(null);
  const { rows, last } = usePackets(list.id, words);
  const base = `/api/packets/${list.id}`;
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), 300);
    return () => clearTimeout(timer);
  }, [typed]);
  // A list ends with its panel, also if the page goes to another view.
  useEffect(() => () => void remove(base).catch(() => {}), [base]);
  const open = (number: number): void => {
    get<PacketWhole>(`${base}/packet/${number}`).then(setWhole, (thrown) => toast(problemOf(thrown)));
  };
  const stop = (): void => void post(`${base}/stop`, {}).catch((thrown) => toast(problemOf(thrown)));
  const isOver = last?.is_over ?? false;
  const gone = last?.first ?? 0;
  const notes = [
    words ? `${count(rows.length, "packet")} of ${(last?.end ?? 0) - gone}` : count(rows.length, "packet"),
    gone > 0 ? `${gone} earlier ones let go` : "",
    last?.lost ? `${last.lost} came too fast to be listed` : "",
    isOver ? "stopped" : "",
  ];
  return (
    <section ref={reveal} className="packets" aria-label={`Packets at ${list.place}`}>
      <header>
        <h2>Packets <span className="soft">{list.place}</span></h2>
        <input
          type="search" aria-label="Only packets with these words" placeholder="tcp 10.0.0.1 SYN !arp" value={typed} data-keys
          title="Whole words of a line, all of which have to occur; ! before a word excludes it" onChange={(event) => setTyped(event.target.value)}
        />
        <Button icon="stop" disabled={isOver} onClick={stop}>Stop</Button>
        <Button icon="save" title="The packets in the list as a pcapng file" onClick={() => location.assign(`${base}/file?${new URLSearchParams({ words })}`)}>Save</Button>
        <Button look="quiet" icon="close" title="Close the list of packets" onClick={onClose} />
      </header>
      <Table rows={rows} chosen={whole?.number ?? null} onOpen={open} />
      <p className="soft packets-notes" role="status">{notes.filter(Boolean).join(" · ")}</p>
      {whole && <Fields packet={whole} onClose={() => setWhole(null)} />}
    </section>
  );
}

const COLUMNS = ["Number", "Time", "Interface", "Source", "Destination", "Protocol", "Bytes", "Fields"] as const;

function Table({ rows, chosen, onOpen }: { rows: readonly PacketRow[]; chosen: number | null; onOpen: (number: number) => void }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(300);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setHeight(element.clientHeight);
    // The list follows what comes, unless somebody has scrolled up.
    if (follows.current) element.scrollTop = element.scrollHeight;
  }, [rows.length, rows[0]?.number]);
  const scrolled = (): void => {
    const element = box.current;
    if (!element) return;
    setTop(element.scrollTop);
    follows.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * ROW_PX;
  };
  const from = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const shown = rows.slice(from, from + Math.ceil(height / ROW_PX) + 2 * BEYOND);
  const origin = rows[0]?.time_ns ?? 0;
  const row = (one: PacketRow, i: number): ReactNode => (
    <tr
      key={one.number} aria-selected={one.number === chosen} aria-rowindex={from + i + 2} tabIndex={0} className={/: (lost|dropped)/.test(one.comment) ? "gone" : ""}
      onClick={() => onOpen(one.number)} onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), onOpen(one.number))}
    >
      <td>{one.number}</td>
      <td>{((one.time_ns - origin) / 1e9).toFixed(6)}</td>
      <td>{one.interface}</td>
      <td>{one.source}</td>
      <td>{one.destination}</td>
      <td>{one.protocol}</td>
      <td>{one.length}</td>
      <td>{one.info}{one.comment && <span className="soft"> {one.comment}</span>}</td>
    </tr>
  );
  return (
    <div ref={box} className="packets-rows" onScroll={scrolled} data-keys>
      <table role="grid" aria-label="Packets" aria-rowcount={rows.length + 1}>
        <thead><tr>{COLUMNS.map((one) => <th key={one} scope="col">{one}</th>)}</tr></thead>
        <tbody>
          <Space rows={from} />
          {shown.map(row)}
          <Space rows={rows.length - from - shown.length} />
        </tbody>
      </table>
    </div>
  );
}

/** The place of rows that are out of sight. */
function Space({ rows }: { rows: number }): ReactNode {
  return rows > 0 && <tr aria-hidden="true" className="packets-space"><td colSpan={COLUMNS.length} style={{ height: rows * ROW_PX }} /></tr>;
}

function Fields({ packet, onClose }: { packet: PacketWhole; onClose: () => void }): ReactNode {
  return (
    <section className="packet" aria-label={`Packet ${packet.number}`}>
      <header>
        <h3>Packet {packet.number} <span className="soft">{packet.interface} · {new Date(packet.time_ns / 1e6).toISOString().replace("T", " ")}</span></h3>
        <Button look="quiet" icon="close" title="Close the packet" onClick={onClose} />
      </header>
      {packet.comment && <p>{packet.comment}</p>}
      <div className="packet-headers">
        {packet.headers.map(({ name, fields }, i) => (
          <details key={i} open>
            <summary>{name}</summary>
            <dl>{fields.map(([field, value]) => <div key={field}><dt>{field}</dt><dd>{value}</dd></div>)}</dl>
          </details>
        ))}
      </div>
      <pre tabIndex={0} aria-label="Bytes">{packet.dump}</pre>
    </section>
  );
}
