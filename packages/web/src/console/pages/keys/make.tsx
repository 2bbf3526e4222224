import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { OtherProblem, useAction } from '../../components/form.tsx';
import type { NewKey } from './documents.ts';
import { bodyOf, FIELDS, KeyFields, useKeyForm } from './form.tsx';

/** Makes a key. */
export function MakeKey({
  close,
  made,
}: {
  readonly close: () => void;
  readonly made: (key: NewKey) => void;
}): JSX.Element {
  const [form, change] = useKeyForm(null);
  const { busy, problem, run } = useAction();
  return (
    <Dialog title="Make a key" close={close} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(async () =>
            made(await api<NewKey>('/v1/keys', { method: 'POST', body: bodyOf(form, null) })),
          );
        }}
      >
        <KeyFields form={form} change={change} problem={problem} />
        <OtherProblem of={problem} fields={FIELDS} />
        <div class="choices end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            Make the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
