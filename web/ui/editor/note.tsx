// A text on the canvas, or a frame around a group.

import { NodeResizer, type NodeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { annotations, changeNote } from "./notes";
import type { NoteNode } from "../network/elements";

export const NoteView = memo(function NoteView({ data: { note, at }, selected }: NodeProps<NoteNode>): ReactNode {
  const rename = (text: string): void => {
    if (text !== note.text) changeNote(at, { text });
  };
  return (
    <div className={`note ${note.kind}`}>
      {note.kind === "group" && (
        <NodeResizer
          isVisible={selected ?? false}
          minWidth={80}
          minHeight={60}
          onResizeEnd={(_, { x, y, width, height }) => {
            if (annotations()[at]) changeNote(at, { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) });
          }}
        />
      )}
      <div
        className="note-text"
        role="textbox"
        aria-label={note.kind === "group" ? "Name of the frame" : "Text on the canvas"}
        contentEditable={selected ? "plaintext-only" : false}
        suppressContentEditableWarning
        onBlur={(event) => rename(event.currentTarget.textContent ?? "")}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      >
        {note.text}
      </div>
    </div>
  );
});
