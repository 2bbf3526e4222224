import type { ComponentChildren, JSX } from 'preact';
import { Facts } from '../../components/facts.tsx';
import { Icon } from '../../components/icon.tsx';
import { Money } from '../../components/money.tsx';
import { causeOf, State } from '../../components/state.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { lengthOf } from '../../format/length.ts';
import { count, counted } from '../../format/number.ts';
import type { Overview } from './documents.ts';

interface PartProps {
  readonly of: Overview;
}

const CHECKS: Readonly<Record<string, string>> = {
  store: 'Database',
  log: 'Anchor log',
  posting: 'Postings',
  chain: 'Chain',
  trust: 'Trust bundle',
};

/** Whether requests can be served, and what keeps the service from it. */
export function Health({ of: { health, service } }: PartProps): JSX.Element {
  const faults = Object.entries(health.checks).filter(([, state]) => state !== 'ok');
  const isReady = health.status === 'ok';
  return (
    <>
      <section class="banner" data-state={isReady ? 'pass' : 'fail'} aria-label="Health">
        <Icon name={isReady ? 'done' : 'fail'} />
        <div>
          <h2>{isReady ? 'Ready' : 'Not ready'}</h2>
          {isReady ? (
            <p>{Object.keys(health.checks).map(nameOfCheck).join(', ')}: all are well.</p>
          ) : (
            faults.map(([check, reason]) => (
              <p key={check}>
                <b>{nameOfCheck(check)}:</b> {reason}
              </p>
            ))
          )}
        </div>
        <p class="hidden" role="status">
          {isReady ? 'Ready' : 'Not ready'}
        </p>
      </section>
      <Facts
        facts={[
          {
            name: 'Version',
            value: service.version,
            note: `Schema ${service.schema_version}, ${service.database === 'postgres' ? 'PostgreSQL' : 'SQLite'}`,
          },
          { name: 'Runs for', value: lengthOf(service.uptime_seconds), note: `${service.mode} mode` },
          { name: 'Processes', value: count(service.processes), note: 'on this database' },
          {
            name: 'Service',
            value: <span class="did">{service.did}</span>,
            note: `process ${service.process}`,
          },
        ]}
      />
    </>
  );
}

const nameOfCheck = (check: string): string => CHECKS[check] ?? check;

const QUEUES: Readonly<Record<string, string>> = {
  receipts: 'Receipts and counters to write',
  log: 'Hashes to write',
  ledger: 'Bookings to write',
  claims: 'Claims to write',
  compression: 'Prompts to compress',
  verification: 'Receipts to verify',
  unanchored: 'Hashes without a final root',
  postings: 'Postings that are not final',
  webhooks: 'Messages to webhooks',
  refunds: 'Refunds',
  withdrawals: 'Withdrawals',
};

/** What waits. */
export function Queues({ of: { queues } }: PartProps): JSX.Element {
  return (
    <section class="block" aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <Table
        label="Queues"
        rows={queues}
        keyOf={({ name }) => name}
        href={() => null}
        columns={[
          { title: 'What waits', cell: ({ name }) => QUEUES[name] ?? name },
          {
            title: 'Where',
            width: 17,
            yields: 1,
            cell: ({ scope }) => (scope === 'process' ? 'this process' : 'database'),
          },
          {
            title: 'Waiting',
            width: 16,
            end: true,
            cell: ({ waiting, due }) =>
              due === null ? count(waiting) : `${count(waiting)}, ${count(due)} due`,
          },
        ]}
      />
    </section>
  );
}

/** The catalogue, and what is to be done about it. */
export function CatalogueState({ of: { catalogue } }: PartProps): JSX.Element {
  const { oldest_price: oldest, retiring, warnings } = catalogue;
  return (
    <section class="block" aria-labelledby="catalogue">
      <h2 id="catalogue">Catalogue</h2>
      <Facts
        facts={[
          {
            name: 'Models',
            value: count(catalogue.models),
            note: `of ${counted(catalogue.providers, 'provider')}`,
          },
          {
            name: 'Oldest price',
            value: oldest === null ? '–' : `${oldest.days} d`,
            note: oldest === null ? 'No price has a day' : `${oldest.model}, read on ${oldest.read_on}`,
          },
          { name: 'Retiring', value: count(retiring.length), note: 'models whose end is announced' },
          { name: 'Warnings', value: count(warnings.length), note: 'entries to look after' },
        ]}
      />
      {retiring.length > 0 && (
        <Table
          label="Models that retire"
          rows={retiring}
          keyOf={({ model }) => model}
          href={() => null}
          columns={[
            { title: 'Retires', cell: ({ model }) => model },
            {
              title: 'Day',
              width: 24,
              cell: ({ retires_on, days }) => `${retires_on} (${days > 0 ? `in ${days} d` : 'over'})`,
            },
            { title: 'Instead', yields: 1, cell: ({ successors }) => successors.join(', ') || '–' },
          ]}
        />
      )}
      {warnings.length > 0 && (
        <ul class="notes">
          {warnings.map(({ model, code }) => (
            <li key={model}>
              <State tone="warn">
                {model}: {causeOf(code)}
              </State>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Refunds that wait for the operator's decision, which is made on the service's machine. */
export function Refunds({ of: { refunds } }: PartProps): JSX.Element {
  return (
    <section class="block" aria-labelledby="refunds">
      <h2 id="refunds">Refunds</h2>
      {refunds.length === 0 ? (
        <p class="fine">No refund waits.</p>
      ) : (
        <>
          <Table
            label="Refunds"
            rows={refunds}
            keyOf={({ id }) => id}
            href={() => null}
            columns={[
              { title: 'Refund', cell: ({ id }) => <code>{id}</code> },
              { title: 'Since', width: 17, yields: 1, cell: ({ requested_at: at }) => <Time at={at} /> },
              {
                title: 'Why',
                width: 24,
                yields: 1,
                cell: ({ reason, note }) => (
                  <span title={note ?? undefined}>{note ?? causeOf(reason ?? '')}</span>
                ),
              },
              { title: 'To', yields: 2, cell: ({ address }) => <code title={address}>{address}</code> },
              { title: 'State', width: 11, cell: ({ state }) => state },
              { title: 'Amount', width: 14, end: true, cell: ({ amount_usdc: of }) => <Money of={of} /> },
            ]}
          />
          <p class="fine">
            They are paid or dismissed on the machine of the service: <code>tally refunds pay</code>.
          </p>
        </>
      )}
    </section>
  );
}

/** Webhooks of all callers, counted. */
export function Webhooks({ of: { webhooks } }: PartProps): JSX.Element {
  return (
    <section class="block" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <Facts
        facts={[
          { name: 'Webhooks', value: count(webhooks.webhooks), note: `${count(webhooks.disabled)} disabled` },
          { name: 'Failing', value: count(webhooks.failing), note: 'whose newest attempt failed' },
          {
            name: 'Messages',
            value: count(webhooks.waiting),
            note: `to be sent, ${count(webhooks.due)} now`,
          },
        ]}
      />
    </section>
  );
}

/** The anchor log: who leads it, what it waits for, and who watches it. */
export function LogState({ of: { log } }: PartProps): JSX.Element {
  const open = Object.entries(log.open_postings).map(([state, postings]) => `${postings} ${state}`);
  return (
    <section class="block" aria-labelledby="log">
      <h2 id="log">Anchor log</h2>
      <Facts
        facts={[
          {
            name: 'Leader',
            value: log.leader === null ? 'nobody' : log.leading ? 'this process' : 'another process',
            note:
              log.leader === null
                ? 'A process takes over within seconds'
                : `${log.leader.holder}, lease for ${log.leader.lease_seconds} s`,
          },
          {
            name: 'Hashes',
            value: count(log.accepted),
            note: `${count(log.accepted - log.anchored)} without a final root`,
          },
          {
            name: 'Postings under way',
            value: open.join(', ') || 'none',
            note: log.overdue_seconds > 0 ? `late by ${lengthOf(log.overdue_seconds)}` : 'none is late',
          },
          {
            name: 'Next posting',
            value: log.next_posting_at === null ? '–' : <Time at={log.next_posting_at} />,
            note: log.next_posting_at === null ? 'No chain is configured' : log.origin,
          },
        ]}
      />
      <Faults of={{ 'Hashes are not accepted': log.accepting, 'Nothing can be posted': log.posting }} />
      {log.witnesses.length === 0 ? (
        <p class="fine">No witness is configured.</p>
      ) : (
        <Table
          label="Witnesses"
          rows={log.witnesses}
          keyOf={({ name }) => name}
          href={() => null}
          columns={[
            { title: 'Witness', cell: ({ name, url }) => <span title={url}>{name}</span> },
            {
              title: 'Cosigned last',
              width: 20,
              cell: ({ cosigned_at: at }) =>
                at === null ? <State tone="warn">not lately</State> : <Time at={at} />,
            },
            {
              title: 'Leaves',
              width: 14,
              end: true,
              cell: ({ cosigned_size: size }) => (size === null ? '–' : count(size)),
            },
          ]}
        />
      )}
    </section>
  );
}

function Faults({ of }: { readonly of: Readonly<Record<string, string>> }): ComponentChildren {
  return Object.entries(of).map(([what, state]) =>
    state === 'ok' ? null : (
      <p key={what} class="wrong">
        {what}: {state}
      </p>
    ),
  );
}
