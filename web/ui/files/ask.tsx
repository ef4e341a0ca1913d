// A question with one text as the answer, or with none.

import { useId, useState, type ReactNode } from "react";
import { Button, Dialog } from "../kit/parts";

interface AskProps {
  title: string;
  /** What the text is; empty: nothing but yes is asked. */
  label: string;
  value: string;
  does: string;
  onClose: () => void;
  /** True if it was done, and the question can go. */
  onAnswer: (text: string) => Promise<boolean>;
}

export function Ask({ title, label, value, does, onClose, onAnswer }: AskProps): ReactNode {
  const id = useId();
  const [text, setText] = useState(value);
  const answer = async (): Promise<void> => {
    if (await onAnswer(text.trim())) onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" onClick={() => void answer()} disabled={label !== "" && !text.trim()} autoFocus={label === ""}>
            {does}
          </Button>
        </>
      }
    >
      {label && (
        <form className="ask" onSubmit={(event) => (event.preventDefault(), void answer())}>
          <label htmlFor={id}>{label}</label>
          <input id={id} value={text} autoFocus spellCheck={false} onChange={(event) => setText(event.target.value)} />
        </form>
      )}
    </Dialog>
  );
}
