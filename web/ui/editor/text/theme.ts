// The text's colours: those of the page.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const highlight = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.variableName), tags.variableName], color: "var(--accent)" },
  { tag: tags.string, color: "var(--valid)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--suspect)" },
]);

export const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", background: "var(--ground)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "8px 0 40px", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--ground)", color: "var(--soft)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 12px" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 22%, transparent)" },
  ".cm-matchingBracket": { background: "var(--tint)", outline: "none" },
  ".cm-tooltip": { background: "var(--ground)", border: "1px solid var(--rule)", borderRadius: "6px", boxShadow: "var(--shadow)", maxWidth: "420px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--tint)", color: "var(--ink)" },
  ".cm-completionInfo": { padding: "8px 12px", fontFamily: "var(--sans)", fontSize: "13px" },
  ".cm-diagnostic": { padding: "6px 12px", whiteSpace: "pre-wrap", fontFamily: "var(--sans)", fontSize: "13px", borderLeftColor: "var(--invalid)" },
  ".cm-panels": { background: "var(--raised)", color: "var(--ink)", borderColor: "var(--rule)" },
  ".cm-panel input, .cm-panel button": { minHeight: "0 !important", width: "auto !important" },
});
