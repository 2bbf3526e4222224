import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Dialog } from './dialog.tsx';
import { Field, OtherProblem, useAction } from './form.tsx';

/** For how long the secret before stays good, in seconds. */
const GRACE = [
  [0, 'Nothing: it stops at once'],
  [3_600, 'An hour'],
  [86_400, 'A day'],
  [604_800, 'A week'],
] as const;

interface RotateProps<Of> {
  readonly title: string;
  /** Where `{grace_seconds}` is posted to. */
  readonly path: `/${string}`;
  readonly close: () => void;
  /** Takes the answer, which has the new secret. */
  readonly rotated: (of: Of) => void;
  /** What happens then. */
  readonly children: ComponentChildren;
}

/** Asks for how long the secret of now stays good, and has it replaced. */
export function Rotate<Of>({ title, path, close, rotated, children }: RotateProps<Of>): JSX.Element {
  const [grace, setGrace] = useState('3600');
  const { busy, problem, run } = useAction();
  const rotate = async (): Promise<void> => {
    rotated(await api<Of>(path, { method: 'POST', body: { grace_seconds: Number(grace) } }));
  };
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(rotate);
        }}
      >
        <p>{children}</p>
        <Field name="grace_seconds" label="How long the secret of now still works" problem={problem}>
          {(described) => (
            <select
              {...described}
              value={grace}
              onChange={({ currentTarget }) => setGrace(currentTarget.value)}
            >
              {GRACE.map(([seconds, words]) => (
                <option key={seconds} value={String(seconds)}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <OtherProblem of={problem} fields={['grace_seconds']} />
        <div class="choices end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            Rotate
          </button>
        </div>
      </form>
    </Dialog>
  );
}
