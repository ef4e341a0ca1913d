// Lines of the table of runs: a run, or the head of a group.

import type { ReactNode } from "react";
import { count } from "../../charts/counts";
import { digits } from "../../charts/numbers";
import { Icon } from "../kit/icons";
import { href } from "../kit/route";
import type { RunColumn, RunGroup, RunRow } from "../kit/run-messages";
import { difference } from "./query";
import { when } from "./run";
import { Spark } from "./spark";
import { Mark } from "./verdict";

interface LineProps {
  line: number;
  isActive: boolean;
  columns: readonly (RunColumn | null)[];
  /** True if any run of the folder has a tag. */
  hasTags: boolean;
  onFocus: () => void;
}

interface RowProps extends LineProps {
  id: string;
  /** Missing until the server has given it. */
  row: RunRow | undefined;
  base: RunRow | null;
  isBase: boolean;
  isChosen: boolean;
  onToggle: (extend: boolean) => void;
  onPin: () => void;
}

const NO_CURVE = new Set(["failed", "damaged", "running", "killed"]);

export function Row({ line, isActive, columns, hasTags, onFocus, id, row, base, isBase, isChosen, onToggle, onPin }: RowProps): ReactNode {
  const tab = isActive ? 0 : -1;
  const name = row ? [row.name, row.label].filter(Boolean).join(": ") : id;
  return (
    <tr data-line={line} aria-rowindex={line + 2} className={[isChosen ? "is-chosen" : "", isBase ? "is-base" : "", row?.left_over ? "left-over" : ""].join(" ")} onFocus={onFocus}>
      <td className="pick">
        <input
          type="checkbox" aria-label={`Choose ${id}`} tabIndex={tab} checked={isChosen} readOnly
          onClick={(event) => onToggle(event.shiftKey)}
        />
      </td>
      <th scope="row" className="run-name" title={row?.problem || id}>
        <span className="run-main">
          {row && <Mark verdict={row.verdict} />}
          <a className="line-focus" tabIndex={tab} href={href("runs", id)} aria-label={row ? `${name}, ${row.verdict}` : id}>{row?.name ?? "…"}</a>
          {row && row.verdict !== "valid" && <span className={`word ${row.verdict}`}>{[row.verdict, ...row.checks].join(", ")}</span>}
          <button type="button" className="pin" tabIndex={-1} aria-pressed={isBase} aria-label={`Pin ${name} as the baseline`} title={isBase ? "The baseline (B)" : "Pin as the baseline (B)"} onClick={onPin}>
            <Icon name="pin" size={14} />
          </button>
        </span>
        <small className="soft">{row?.problem || row?.label || (row?.left_over && row.verdict !== "failed" ? "left over" : "")}</small>
      </th>
      <td>{row && !NO_CURVE.has(row.verdict) && <Spark id={id} />}</td>
      {columns.map((one, i) => {
        const value = row?.cells[i];
        const other = base?.cells[i];
        const by = base ? difference(value, other) : "";
        const differs = base !== null && one?.kind === "setting" && row !== undefined && value !== other;
        return (
          <td key={one?.key ?? i} className={one?.kind === "figure" ? "n" : differs ? "differs" : ""} title={typeof value === "string" ? value : undefined}>
            <span className="value">{cell(value)}</span>
            {by && <small className="soft">{by}</small>}
          </td>
        );
      })}
      {hasTags && <td>{row?.tags.map((one) => <span key={one} className="tag-word">{one}</span>)}</td>}
      <td className="n soft">{row && when(row.started_at)}</td>
    </tr>
  );
}

interface GroupProps extends LineProps {
  group: RunGroup;
  title: string;
  isOpen: boolean;
  /** Members that are chosen. */
  chosen: number;
  onToggle: () => void;
  onOpen: () => void;
}

export function GroupRow({ line, isActive, columns, hasTags, onFocus, group, title, isOpen, chosen, onToggle, onOpen }: GroupProps): ReactNode {
  const tab = isActive ? 0 : -1;
  const value = group.value || "none";
  return (
    <tr className="runs-group" data-line={line} aria-rowindex={line + 2} onFocus={onFocus}>
      <td className="pick">
        <input
          type="checkbox" aria-label={`Choose all with ${title} ${value}`} tabIndex={tab} checked={chosen === group.runs} readOnly onClick={onToggle}
          ref={(box) => void (box && (box.indeterminate = chosen > 0 && chosen < group.runs))}
        />
      </td>
      <th scope="rowgroup" className="run-name">
        <button type="button" className="line-focus" tabIndex={tab} aria-expanded={isOpen} onClick={onOpen}>
          <Icon name={isOpen ? "down" : "chevron"} size={14} /> <span className="soft">{title}</span> {value}
        </button>
        <small className="soft">{group.runs > 1 ? `${count(group.runs, "run")}, means of figures` : "1 run"}</small>
      </th>
      <td />
      {columns.map((one, i) => {
        const found = group.cells[i];
        return (
          <td key={one?.key ?? i} className={one?.kind === "figure" ? "n" : ""}>
            {found == null ? (one?.kind === "setting" && <span className="soft">differs</span>) : <span className="value">{cell(found)}</span>}
          </td>
        );
      })}
      <td colSpan={hasTags ? 2 : 1} />
    </tr>
  );
}

/** A value as a cell says it. Whole numbers are counts, and have no fraction. */
export function cell(value: string | number | null | undefined): string {
  if (value == null) return "–";
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
}
