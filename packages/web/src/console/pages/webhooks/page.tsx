import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { AccountOnly } from '../../components/account-only.tsx';
import { Empty, Skeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useListing } from '../../listing.ts';
import { query } from '../../router.ts';
import type { NewWebhook, Webhook } from './documents.ts';
import { WebhookForm } from './form.tsx';
import { Secret } from './secret.tsx';
import { State } from './state.tsx';
import { WebhookView } from './webhook.tsx';

const title = 'Webhooks';

/** Where messages are sent when something has happened. */
export function Page(): JSX.Element {
  const list = useListing<Webhook>('webhooks', '/v1/webhooks', {});
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<{ readonly webhook: NewWebhook; readonly title: string } | null>(null);
  const chosen = list.rows.find(({ id }) => id === query.value.get('webhook'));
  // It stands above whatever becomes of the list.
  const secret = made !== null && <Secret of={made.webhook} title={made.title} close={() => setMade(null)} />;
  if (list.problem !== null)
    return (
      <>
        <h1>{title}</h1>
        {secret}
        <AccountOnly
          problem={list.problem}
          retry={list.reload}
          title="Sign in to see your webhooks"
          why="A webhook is told when a balance is low, a key is revoked, a posting is final or the status has changed."
        />
      </>
    );
  if (chosen !== undefined)
    return (
      <>
        <WebhookView
          key={chosen.id}
          of={chosen}
          changed={list.reload}
          rotated={(webhook) => {
            setMade({ webhook, title: 'The webhook has a new secret' });
            list.reload();
          }}
        />
        {secret}
      </>
    );
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
        <div class="tools">
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make a webhook
          </button>
        </div>
      </header>
      {list.rows.length > 0 ? (
        <Table
          label="Webhooks, newest first"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
          href={({ id }) => `/webhooks?webhook=${id}`}
          busy={list.busy}
        />
      ) : list.busy ? (
        <Skeleton rows={3} />
      ) : (
        <Empty title="No webhooks yet">
          <p>
            Give an address of yours, and the service posts a signed message to it when your balance is low, a
            budget is used up, a key is revoked, a posting is final or the status has changed.
          </p>
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make the first webhook
          </button>
        </Empty>
      )}
      {making && (
        <WebhookForm
          of={null}
          close={() => setMaking(false)}
          saved={(webhook) => {
            setMaking(false);
            setMade({ webhook: webhook as NewWebhook, title: 'The webhook is made' });
            list.reload();
          }}
        />
      )}
      {secret}
    </>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  { title: 'Address', cell: ({ url }) => <span title={url}>{url}</span> },
  { title: 'State', width: 18, cell: (webhook) => <State of={webhook} /> },
  {
    title: 'Told of',
    width: 40,
    yields: 2,
    cell: ({ events }) => <span title={events.join(', ')}>{events.join(', ')}</span>,
  },
  {
    title: 'Failing since',
    width: 18,
    yields: 1,
    cell: ({ failing_since: at }) => (at === null ? <i class="none">–</i> : <Time at={at} />),
  },
  { title: 'Made', width: 18, yields: 1, cell: ({ created_at: at }) => <Time at={at} /> },
];
