import type { ReactNode } from "react";
import type { ViewProps } from "../app/views";

export default function View(_: ViewProps): ReactNode {
  return <p className="loading">…</p>;
}
