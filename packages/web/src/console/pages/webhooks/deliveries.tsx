import type { JSX } from 'preact';
import { Dialog } from '../../components/dialog.tsx';
import { Snippet } from '../../components/snippet.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count, counted, duration } from '../../format/number.ts';
import type { Delivery } from './documents.ts';

const TITLES = { waiting: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as const;
const STATES = { waiting: 'near', delivered: 'pass', failed: 'fail' } as const;

/** @param off whether none can be repeated now */
export function columnsOf(repeat: (delivery: Delivery) => void, off: boolean): readonly Column<Delivery>[] {
  return [
    { title: 'Time', width: 18, cell: ({ at }) => <Time at={at} /> },
    { title: 'Event', cell: ({ type }) => <code>{type}</code> },
    {
      title: 'State',
      width: 14,
      cell: ({ state, problem }) => (
        <span class="badge" data-state={STATES[state]} title={problem ?? undefined}>
          {TITLES[state]}
        </span>
      ),
    },
    { title: 'Answer', width: 12, yields: 1, cell: ({ status }) => status ?? <i class="none">none</i> },
    { title: 'Attempts', width: 11, end: true, yields: 1, cell: ({ attempts }) => count(attempts) },
    {
      title: 'Took',
      width: 11,
      end: true,
      yields: 2,
      cell: ({ took_ms: took }) => (took === null ? <i class="none">–</i> : duration(took)),
    },
    {
      title: 'Next attempt',
      width: 18,
      yields: 2,
      cell: ({ next_attempt_at: at }) => (at === null ? <i class="none">–</i> : <Time at={at} />),
    },
    {
      title: 'Again',
      width: 13,
      end: true,
      yields: 1,
      cell: (delivery) => (
        <button
          type="button"
          class="pick"
          disabled={off}
          aria-label={`Send again: ${delivery.type}, ${delivery.id}`}
          onClick={() => repeat(delivery)}
        >
          Send again
        </button>
      ),
    },
  ];
}

/** A message, and what became of it. */
export function DeliveryDialog({
  of: delivery,
  repeat,
  off,
  close,
}: {
  readonly of: Delivery;
  readonly repeat: (delivery: Delivery) => void;
  /** Whether it can't be repeated now. */
  readonly off: boolean;
  readonly close: () => void;
}): JSX.Element {
  const { state, attempts, status, problem, last_attempt_at: last, next_attempt_at: next } = delivery;
  return (
    <Dialog title={delivery.type} close={close} wide>
      <p>
        <span class="badge" data-state={STATES[state]}>
          {TITLES[state]}
        </span>{' '}
        after {counted(attempts, 'attempt')}
        {status === null ? '' : `; the last answer was ${status}`}
        {problem === null ? '.' : `. ${problem}`}
      </p>
      {last !== null && (
        <p class="fine">
          Last sent <Time at={last} />
          {next === null ? (
            '.'
          ) : (
            <>
              , again <Time at={next} />.
            </>
          )}
        </p>
      )}
      <Snippet what="The message" text={JSON.stringify(delivery.message, null, 2)} />
      <div class="choices end">
        <button
          type="button"
          disabled={off}
          onClick={() => {
            repeat(delivery);
            close();
          }}
        >
          Send again
        </button>
      </div>
    </Dialog>
  );
}
