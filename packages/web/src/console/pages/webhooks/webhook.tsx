import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { useAction } from '../../components/form.tsx';
import { More } from '../../components/more.tsx';
import { Rotate } from '../../components/rotate.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useListing } from '../../listing.ts';
import { go, query, setQuery } from '../../router.ts';
import { columnsOf, DeliveryDialog } from './deliveries.tsx';
import type { Delivery, NewWebhook, Webhook } from './documents.ts';
import { WebhookForm } from './form.tsx';
import { State } from './state.tsx';

/** How often deliveries are read again while one has not been tried yet, in milliseconds, and how many times. */
const LOOK_AGAIN_MS = 1_500;
const LOOKS = 40;

/** A webhook: what it is told, and what became of its messages. */
export function WebhookView({
  of: webhook,
  changed,
  rotated,
}: {
  readonly of: Webhook;
  readonly changed: () => void;
  /** Takes the webhook with its new secret. */
  readonly rotated: (webhook: NewWebhook) => void;
}): JSX.Element {
  const [asking, setAsking] = useState<'change' | 'rotate' | 'delete' | null>(null);
  const { busy, problem, run } = useAction();
  const place = `/v1/webhooks/${webhook.id}` as const;
  const list = useListing<Delivery>(webhook.id, `${place}/deliveries`, {});
  const look = useLookAgain(list.rows, () => {
    list.reload();
    changed();
  });
  const test = async (): Promise<void> => {
    await api(`${place}/test`, { method: 'POST' });
    look();
  };
  const repeat = async ({ id }: Delivery): Promise<void> => {
    await api(`${place}/deliveries/${id}/repeat`, { method: 'POST' });
    look();
  };
  const sendAgain = (delivery: Delivery): void => void run(() => repeat(delivery));
  const off = busy || !webhook.enabled;
  const enable = async (enabled: boolean): Promise<void> => {
    await api(place, { method: 'PATCH', body: { enabled } });
    changed();
    list.reload();
  };
  const remove = async (): Promise<void> => {
    await api(place, { method: 'DELETE' });
    go('/webhooks', 'replace');
    changed();
  };
  const shown = list.rows.find(({ id }) => id === query.value.get('delivery'));
  return (
    <>
      <p class="crumb">
        <a href="/webhooks">Webhooks</a>
      </p>
      <header class="title">
        <h1 class="address">{webhook.url}</h1>
        <div class="tools">
          <button type="button" disabled={busy || !webhook.enabled} onClick={() => void run(test)}>
            Send a test
          </button>
          <button type="button" disabled={busy} onClick={() => void run(() => enable(!webhook.enabled))}>
            {webhook.enabled ? 'Pause' : 'Resume'}
          </button>
          <button type="button" onClick={() => setAsking('change')}>
            Change…
          </button>
          <button type="button" onClick={() => setAsking('rotate')}>
            Rotate…
          </button>
          <button type="button" class="danger" onClick={() => setAsking('delete')}>
            Delete…
          </button>
        </div>
      </header>
      {problem !== null && <Problem of={problem} />}
      <dl class="terms">
        <div>
          <dt>State</dt>
          <dd>
            <State of={webhook} /> <Why of={webhook} />
          </dd>
        </div>
        <div>
          <dt>Told of</dt>
          <dd>{webhook.events.join(', ')}</dd>
        </div>
        {webhook.previous_secret_until !== null && (
          <div>
            <dt>Secret</dt>
            <dd>
              Rotated. The one before signs as well until <Time at={webhook.previous_secret_until} />.
            </dd>
          </div>
        )}
      </dl>
      <h2 class="section">Deliveries of the last 30 days</h2>
      {list.problem !== null ? (
        <Problem of={list.problem} retry={list.reload} />
      ) : list.rows.length > 0 ? (
        <Table
          label="Deliveries, newest first"
          columns={columnsOf(sendAgain, off)}
          rows={list.rows}
          keyOf={({ id }) => id}
          href={({ id }) => `/webhooks?webhook=${webhook.id}&delivery=${id}`}
        />
      ) : list.busy ? (
        <Skeleton rows={4} />
      ) : (
        <Empty title="Nothing sent yet">
          <p>Send a test, and see here what your server answered.</p>
        </Empty>
      )}
      <More of={list}>Show older deliveries</More>
      {shown !== undefined && (
        <DeliveryDialog
          of={shown}
          repeat={sendAgain}
          off={off}
          close={() => setQuery({ delivery: null }, 'replace')}
        />
      )}
      {asking === 'change' && (
        <WebhookForm
          of={webhook}
          close={() => setAsking(null)}
          saved={() => {
            setAsking(null);
            changed();
          }}
        />
      )}
      {asking === 'rotate' && (
        <Rotate<NewWebhook>
          title="Rotate the secret of this webhook"
          path={`${place}/rotate`}
          close={() => setAsking(null)}
          rotated={(webhook) => {
            setAsking(null);
            rotated(webhook);
          }}
        >
          Messages are signed with a new secret from now on, and with the one of now beside it for the time
          that you choose, so that your server can change in between.
        </Rotate>
      )}
      {asking === 'delete' && (
        <Confirm title="Delete this webhook?" verb="Delete" act={remove} close={() => setAsking(null)}>
          <p>Its secret, its deliveries and what waits to be sent are deleted with it.</p>
        </Confirm>
      )}
    </>
  );
}

function Why({ of: webhook }: { readonly of: Webhook }): JSX.Element | null {
  const { disabled_at: at, failing_since: since } = webhook;
  if (at !== null)
    return (
      <span class="fine">
        {webhook.disabled_because === 'gone'
          ? 'It answered 410.'
          : webhook.disabled_because === 'failing'
            ? 'It accepted nothing for three days.'
            : 'You paused it.'}{' '}
        Nothing is sent since <Time at={at} />.
      </span>
    );
  if (since === null) return null;
  return (
    <span class="fine">
      Every attempt failed since <Time at={since} />.
    </span>
  );
}

/** Reads again while a message has not been tried yet. Returns what begins to look. */
function useLookAgain(rows: readonly Delivery[], reload: () => void): () => void {
  const [left, setLeft] = useState(0);
  const waits = rows.some(({ state, attempts }) => state === 'waiting' && attempts === 0);
  useEffect(() => {
    if (left === 0 || (left < LOOKS && !waits)) return;
    const timer = setTimeout(() => {
      setLeft(left - 1);
      reload();
    }, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [left, waits]);
  return () => {
    setLeft(LOOKS);
    reload();
  };
}
