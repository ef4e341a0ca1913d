// Icons: strokes on a grid of 20 units, drawn for this application.

import type { ReactNode } from "react";

const PATHS = {
  host: "M3.5 4h13v9h-13zM7.5 16.5h5M10 13v3.5",
  switch: "M2.5 6.5h15v7h-15zM5.5 10h.01M8.5 10h.01M11.5 10h.01M14.5 10h.01",
  router: "M10 2.8a7.2 7.2 0 100 14.4a7.2 7.2 0 000-14.4zM10 5.5v3M8.7 7l1.3-1.5L11.3 7M10 14.5v-3M8.7 13l1.3 1.5l1.3-1.5M8.5 10h-3M7 8.7L8.5 10L7 11.3M11.5 10h3M13 8.7L11.5 10l1.5 1.3",
  daemons: "M10 2.8a7.2 7.2 0 100 14.4a7.2 7.2 0 000-14.4zM8 14V6h4.5M8 10h3.5",
  link: "M6.5 10h7M4 7.5a2.5 2.5 0 100 5a2.5 2.5 0 000-5zM16 7.5a2.5 2.5 0 100 5a2.5 2.5 0 000-5z",
  flow: "M3 14c4-9 9-9 13-3M16.3 7.5V11.3h-3.8",
  select: "M5 3.5l10.5 6.3l-4.7 1l-2.5 4.4z",
  undo: "M7.5 4L4 7.5L7.5 11M4 7.5h7.5a4.25 4.25 0 010 8.5H8",
  redo: "M12.5 4L16 7.5L12.5 11M16 7.5H8.5a4.25 4.25 0 000 8.5H12",
  fit: "M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13",
  layout: "M4 8.5h4v3H4zM12 3.5h4v3h-4zM12 13.5h4v3h-4zM8 10h2M10 5v10M10 5h2M10 15h2",
  text: "M7 6l-3.5 4L7 14M13 6l3.5 4L13 14",
  outline: "M4 5h.01M4 10h.01M4 15h.01M7.5 5h9M7.5 10h9M7.5 15h9",
  search: "M8.8 3.5a5.3 5.3 0 100 10.6a5.3 5.3 0 000-10.6zM12.7 12.7L16.8 16.8",
  close: "M5 5l10 10M15 5L5 15",
  add: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  play: "M6 4l10 6l-10 6z",
  pause: "M6.5 4.5v11M13.5 4.5v11",
  step: "M4 4.5l8 5.5l-8 5.5zM15.5 4.5v11",
  stop: "M5 5h10v10H5z",
  file: "M5 2.5h6.5L15 6v11.5H5zM11.5 2.5V6H15",
  folder: "M2.5 5h5l1.5 2h8.5v9h-15z",
  save: "M10 3v9M6.5 8.5L10 12l3.5-3.5M3.5 16.5h13",
  import: "M10 3v9M6.5 8.5L10 12l3.5-3.5M3.5 13.5v3h13v-3",
  export: "M10 12V3M6.5 6.5L10 3l3.5 3.5M3.5 13.5v3h13v-3",
  trash: "M3.5 5.5h13M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11",
  copy: "M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7",
  warning: "M10 3l7.5 13.5h-15zM10 8v4M10 14.3h.01",
  check: "M4 10.5l4 4l8-9",
  chevron: "M7 4.5l5.5 5.5L7 15.5",
  down: "M4.5 7.5L10 13l5.5-5.5",
  pin: "M7 2.5h6l-.8 6l2.8 3v1H5v-1l2.8-3zM10 12.5v5",
  lock: "M5 9h10v7.5H5zM7 9V6.5a3 3 0 016 0V9",
  unlock: "M5 9h10v7.5H5zM7 9V6.5a3 3 0 015.8-1",
  help: "M7.3 7.5a2.7 2.7 0 115.4 0c0 1.8-2.7 2-2.7 4M10 14.7h.01M10 1.8a8.2 8.2 0 100 16.4a8.2 8.2 0 000-16.4z",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  template: "M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM14 11.5v5M11.5 14h5",
  group: "M3 6V3h3M14 3h3v3M17 14v3h-3M6 17H3v-3M7 10h6",
  event: "M10 2.5a7.5 7.5 0 100 15a7.5 7.5 0 000-15zM10 5.5V10l3 2",
  terminal: "M2.5 4h15v12h-15zM5.5 8l2.5 2l-2.5 2M10 12.5h4",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon beside a text that says the same. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
