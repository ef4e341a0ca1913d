// All keys, and what this server is.

import type { ReactNode } from "react";
import type { About } from "../kit/messages";
import { actions, type Action } from "../kit/actions";
import { Dialog, Keys } from "../kit/parts";

export function Help({ about, onClose }: { about: About; onClose: () => void }): ReactNode {
  const groups = new Map<string, Action[]>();
  for (const action of actions()) {
    if (action.keys?.length) groups.set(action.group, [...(groups.get(action.group) ?? []), action]);
  }
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="key-groups">
        {[...groups].map(([group, of]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {of.map((action) => (
                <div key={action.id}>
                  <dt>{action.title}</dt>
                  <dd>
                    <Keys of={action.keys?.[0] ?? ""} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="beneath">
        Letters without Ctrl act while the drawing or the outline has the focus. dumbbell {about.version}, in <code>{about.workspace}</code>.
      </p>
    </Dialog>
  );
}
