// The form of what is selected: of nodes, links, flows, or of the scenario itself.

import { memo, useEffect, useMemo, useState, type ReactNode } from "react";
import { theAbout, theSchema } from "../kit/about";
import { Button } from "../kit/parts";
import { FormContext } from "../forms/edit";
import type { Schema } from "../kit/schema";
import { FlowForm } from "./form-flow";
import { LinkForm } from "./form-link";
import { NodeForm } from "./form-node";
import { ScenarioForm } from "./form-scenario";
import { Problems } from "./problems";
import { removeSelected } from "./commands";
import { selectedOf, toggle, useEditor } from "../document/store";
import { count } from "../../charts/counts";

export const Inspector = memo(function Inspector(): ReactNode {
  const document = useEditor((editor) => editor.document);
  const selection = useEditor((editor) => editor.selection);
  const target = useEditor((editor) => editor.target);
  const [root, setRoot] = useState<Schema | null>(null);
  const [algorithms, setAlgorithms] = useState<readonly string[]>([]);
  useEffect(() => {
    void theSchema().then(setRoot);
    void theAbout().then((about) => setAlgorithms(about.algorithms));
  }, []);
  const form = useMemo(
    () =>
      root && document
        ? { root, data: document.data, problems: document.problems, algorithms, nodes: document.drawing?.nodes.map((node) => node.name) ?? [], target: target?.key ?? null }
        : null,
    [root, document, algorithms, target],
  );
  if (!form || !document) return null;
  const { nodes, links, flows } = selectedOf(document.drawing, selection);
  const kinds = [nodes, links, flows].filter((some) => some.length > 0).length;
  const nothing = kinds === 0;
  const close = <Button look="quiet" icon="close" title="Hide the form (P)" onClick={() => toggle("form", false)} />;
  const heading = (title: string, kind: string): ReactNode => (
    <header className="form-head">
      <div>
        <p>{kind}</p>
        <h2>{title}</h2>
      </div>
      {!nothing && <Button look="quiet" icon="trash" title="Delete (Delete)" onClick={removeSelected} />}
      {close}
    </header>
  );
  let body: ReactNode;
  if (kinds > 1 || nodes.length > 1) {
    const parts = [nodes.length && count(nodes.length, "node"), links.length && count(links.length, "link"), flows.length && count(flows.length, "flow")].filter(Boolean).join(", ");
    body = (
      <>
        {heading(parts, "Selected")}
        {links.length > 0 ? <LinkForm links={links} /> : nodes.length > 1 && kinds === 1 ? <NodeForm nodes={nodes} /> : null}
      </>
    );
  } else if (nodes.length === 1) {
    body = (
      <>
        {heading(nodes[0]?.name ?? "", nodes[0]?.kind ?? "")}
        <NodeForm nodes={nodes} />
      </>
    );
  } else if (links.length > 0) {
    const [link] = links;
    body = (
      <>
        {heading(links.length > 1 ? count(links.length, "link") : (link?.name ?? link?.between.join(" – ") ?? ""), links.length > 1 ? "Selected" : "link")}
        <LinkForm links={links} />
      </>
    );
  } else if (flows.length > 0) {
    body = (
      <>
        {heading(flows.length > 1 ? count(flows.length, "flow") : (flows[0]?.name ?? ""), "flow")}
        <FlowForm flows={flows} />
      </>
    );
  } else {
    body = (
      <>
        {heading(String(document.data["name"] ?? "Scenario"), "scenario")}
        <ScenarioForm />
      </>
    );
  }
  return (
    <FormContext.Provider value={form}>
      <Problems />
      <div className="form-body" key={nothing ? "scenario" : JSON.stringify([selection.nodes, selection.links, selection.flows])}>
        {body}
      </div>
    </FormContext.Provider>
  );
});
