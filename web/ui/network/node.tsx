// A host, a switch or a router.

import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { count } from "../../charts/counts";
import { Icon } from "../kit/icons";
import type { NetworkNode } from "./elements";
import { iconOf } from "./node-icon";

export const NetworkNodeView = memo(function NetworkNodeView({ data: { drawn, flows, marked = "", within } }: NodeProps<NetworkNode>): ReactNode {
  const [first, ...more] = drawn.addresses;
  return (
    <div className={`node ${drawn.kind} ${drawn.given ? "made" : ""} ${drawn.problems > 0 ? "wrong" : ""} ${marked}`} data-node={drawn.name}>
      <div className="shape">
        <Icon name={iconOf(drawn)} size={24} />
        {drawn.problems > 0 && (
          <span className="badge wrong" title={`${drawn.problems} problem${drawn.problems > 1 ? "s" : ""}`}>
            !
          </span>
        )}
        {flows > 0 && drawn.problems === 0 && (
          <span className="badge flows" title={`${flows} flow${flows > 1 ? "s" : ""} begin or end here`}>
            {flows}
          </span>
        )}
        {/* Where links end. React Flow finds it by these names; a component of its own would listen to every change of the drawing. */}
        <div className="react-flow__handle centre source" data-handleid="centre" data-nodeid={drawn.name} data-handlepos="top" />
        <Handle id="pull" className="pull" type="source" position={Position.Top} />
      </div>
      <div className="name">
        <span>
          {drawn.name}
          {within !== undefined && (
            <span className="within" title={`${count(within, "folded node")}: C unfolds`}>
              {` +${within}`}
            </span>
          )}
        </span>
        {first && (
          <small>
            {first.replace(/\/\d+$/, "")}
            {more.length > 0 && ` +${more.length}`}
          </small>
        )}
      </div>
    </div>
  );
});
