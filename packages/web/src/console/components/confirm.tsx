import type { ComponentChildren, JSX } from 'preact';
import { Dialog } from './dialog.tsx';
import { useAction } from './form.tsx';
import { Problem } from './states.tsx';

/** Asks before something that can't be undone, and does it. */
export function Confirm({
  title,
  verb,
  act,
  close,
  children,
}: {
  readonly title: string;
  /** What its button says. */
  readonly verb: string;
  readonly act: () => Promise<void>;
  readonly close: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { busy, problem, run } = useAction();
  return (
    <Dialog title={title} close={close}>
      <div>{children}</div>
      {problem !== null && <Problem of={problem} />}
      <div class="choices end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={busy}
          onClick={() => void run(act).then((done) => done && close())}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
