import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiProblem, api } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Problem } from '../../components/states.tsx';
import { problemOf } from '../../load.ts';

/** What the operator is about to order. */
export interface Order {
  readonly does: 'rest' | 'resume';
  readonly kind: 'provider' | 'model';
  readonly id: string;
  /** Number of models that it is about. */
  readonly models: number;
}

const LENGTHS = [
  [600, '10 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '7 days'],
] as const;

/** Asks before models rest or are called again, and does it. @param done called once it is done */
export function OrderDialog({
  order: { does, kind, id, models },
  close,
  done,
}: {
  readonly order: Order;
  readonly close: () => void;
  readonly done: () => void;
}): JSX.Element {
  const [seconds, setSeconds] = useState<number>(LENGTHS[0][0]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await api(`/v1/operator/${kind}s/${encodeURIComponent(id)}/${does}`, {
        method: 'POST',
        ...(does === 'rest' && { body: { seconds } }),
      });
      done();
      close();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const what = kind === 'model' ? id : `${id} with ${models} ${models === 1 ? 'model' : 'models'}`;
  return (
    <Dialog title={does === 'rest' ? `Give ${id} a rest` : `Resume ${id}`} close={close}>
      {does === 'rest' ? (
        <>
          <p>
            No process of the service calls {what} for this time. Calls under way end as they began; calls
            that name {kind === 'model' ? 'it' : 'one of them'} are refused.
          </p>
          <div class="ways" role="group" aria-label="For how long">
            {LENGTHS.map(([length, name]) => (
              <button
                type="button"
                key={length}
                aria-pressed={length === seconds}
                onClick={() => setSeconds(length)}
              >
                {name}
              </button>
            ))}
          </div>
        </>
      ) : (
        <p>
          Every process of the service calls {what} again at once, whether it rests by order or because calls
          failed. If calls still fail, it rests again.
        </p>
      )}
      {problem !== null && <Problem of={problem} />}
      <div class="choices end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={busy} onClick={() => void act()}>
          {does === 'rest' ? 'Give it a rest' : 'Resume'}
        </button>
      </div>
    </Dialog>
  );
}
