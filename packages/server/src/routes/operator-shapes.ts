import { z } from '@hono/zod-openapi';
import { STATUS_STATES } from '@tallystick/core';
import { count, dollars, timestamp } from './shapes.ts';

const checks = z
  .record(z.string(), z.string())
  .openapi({ description: 'Each part that the service needs: `ok`, or what is wrong with it.' });

const rest = z
  .object({
    until: timestamp.openapi({ description: 'When it ends.' }),
    by: z
      .enum(['operator', 'failures'])
      .openapi({ description: 'Whether the operator ordered it, or it followed from failed calls.' }),
  })
  .nullable();

const state = {
  state: z
    .enum(STATUS_STATES)
    .openapi({ description: 'Its state by the calls of the process that answers.' }),
  code: z.string().openapi({ description: '`ok`, or what is wrong.' }),
  since: timestamp
    .nullable()
    .openapi({ description: 'Since when, by the newest status; null where the state is newer.' }),
};

const calls = {
  calls: count.openapi({ description: 'Calls in the last five minutes, at the process that answers.' }),
  failed: count.openapi({ description: 'Those that failed.' }),
  error_rate: z
    .number()
    .nullable()
    .openapi({ description: '`failed` divided by `calls`; null without calls.' }),
};

const provider = z
  .object({
    id: z.string().openapi({ description: 'Its name in the catalogue.' }),
    ...state,
    models: count.openapi({ description: 'Models of it in the catalogue.' }),
    resting: count.openapi({ description: 'Those that rest.' }),
    rest: rest.openapi({ description: 'The rest that ends last; null unless all of its models rest.' }),
    ...calls,
    first_byte_ms: z.number().nullable().openapi({
      description: 'Mean of its models’ `first_byte_ms`, each counted as often as it was called lately.',
    }),
  })
  .openapi('OperatorProvider', { description: 'How a provider is.' });

const model = z
  .object({
    id: z.string().openapi({ description: 'Its id.' }),
    provider: z.string().openapi({ description: 'Name of its provider.' }),
    kind: z.enum(['chat', 'embedding']).openapi({ description: 'What it gives.' }),
    ...state,
    warning: z
      .string()
      .nullable()
      .openapi({ description: 'What is to be done about its entry in the catalogue; null for nothing.' }),
    rest: rest.openapi({ description: 'Until when it is not called; null where it is.' }),
    ...calls,
    first_byte_ms: z.number().nullable().openapi({
      description:
        'Median milliseconds until the first byte of an answer, over all processes; null if unknown.',
    }),
  })
  .openapi('OperatorModel', { description: 'How a model is.' });

const catalogue = z
  .object({
    models: count.openapi({ description: 'Models in it.' }),
    providers: count.openapi({ description: 'Their providers.' }),
    oldest_price: z
      .object({
        model: z.string().openapi({ description: 'Id of the model.' }),
        read_on: z.string().openapi({ description: 'Day on which the price was read.' }),
        days: count.openapi({ description: 'Days since then.' }),
      })
      .nullable()
      .openapi({ description: 'The price that was read longest ago; null where none has a day.' }),
    retiring: z
      .array(
        z.object({
          model: z.string().openapi({ description: 'Id of the model.' }),
          retires_on: z.string().openapi({ description: 'Day on which its provider shuts it down.' }),
          days: z.int().openapi({ description: 'Days until then.' }),
          successors: z.array(z.string()).openapi({ description: 'What the provider recommends instead.' }),
        }),
      )
      .openapi({ description: 'Models whose end is announced.' }),
    warnings: z
      .array(
        z.object({
          model: z.string().openapi({ description: 'Id of the model.' }),
          code: z
            .enum(['retired', 'price_outdated', 'retires_soon', 'price_old'])
            .openapi({ description: 'What is wrong. The first two keep the model from being called.' }),
        }),
      )
      .openapi({ description: 'Entries about which something is to be done.' }),
  })
  .openapi({ description: 'The catalogue of models.' });

const queue = z.object({
  name: z.string().openapi({ description: 'What waits.' }),
  scope: z
    .enum(['process', 'service'])
    .openapi({ description: 'Whether it waits in the process that answers, or in the database.' }),
  waiting: count.openapi({ description: 'How much waits.' }),
  due: count
    .nullable()
    .openapi({ description: 'How much of it could go on now; null where all of it could.' }),
});

const refund = z.object({
  id: z.string().openapi({ description: 'Its id, for `tally refunds`.' }),
  state: z.enum(['waiting', 'paying']).openapi({ description: '`waiting` for the operator’s decision.' }),
  network: z.string().openapi({ description: 'CAIP-2 name of the chain.' }),
  address: z.string().openapi({ description: 'Address that is paid.' }),
  amount_usdc: dollars.openapi({ description: 'What is paid back.' }),
  reason: z.string().nullable().openapi({ description: 'Why it is paid back.' }),
  requested_at: timestamp.openapi({ description: 'Since when it waits.' }),
  note: z.string().nullable().openapi({ description: 'What went wrong; null for nothing.' }),
});

const log = z
  .object({
    origin: z.string().openapi({ description: 'Its name.' }),
    accepted: count.openapi({ description: 'Hashes accepted.' }),
    size: count.openapi({ description: 'Leaves under the newest signed checkpoint.' }),
    anchored: count.openapi({ description: 'Leaves under a root that is final on the chain.' }),
    oldest_unanchored_seconds: count.openapi({ description: 'Age of the oldest hash that is not anchored.' }),
    overdue_seconds: count.openapi({ description: 'By how long a posting is late.' }),
    next_posting_at: timestamp
      .nullable()
      .openapi({ description: 'The next scheduled posting; null without a chain.' }),
    accepting: z.string().openapi({ description: '`ok`, or why no hashes are accepted.' }),
    posting: z
      .string()
      .openapi({ description: '`ok`, or why the leader can’t post; other processes say `ok`.' }),
    leading: z.boolean().openapi({ description: 'Whether the process that answers leads the log.' }),
    leader: z
      .object({
        holder: z.string().openapi({ description: 'Name of the leader for this lease.' }),
        lease_seconds: z.int().openapi({ description: 'Seconds until its lease has to be renewed.' }),
      })
      .nullable()
      .openapi({ description: 'Who leads the log; null while nobody does.' }),
    open_postings: z
      .record(z.string(), count)
      .openapi({ description: 'Postings that are not final, by their state.' }),
    witnesses: z
      .array(
        z.object({
          name: z.string().openapi({ description: 'Its name.' }),
          url: z.string().openapi({ description: 'Where it is asked.' }),
          cosigned_size: count.nullable().openapi({
            description: 'Leaves under the newest checkpoint that it cosigned; null for none lately.',
          }),
          cosigned_at: timestamp.nullable().openapi({ description: 'When it cosigned that one.' }),
        }),
      )
      .openapi({ description: 'The witnesses of the configuration.' }),
  })
  .openapi({ description: 'The anchor log.' });

/** The answer of `GET /v1/operator/overview`. */
export const overviewSchema = z
  .object({
    at: timestamp.openapi({ description: 'When this was read.' }),
    service: z
      .object({
        did: z.string().openapi({ description: 'Name of the service.' }),
        mode: z.enum(['development', 'production']).openapi({ description: 'How it runs.' }),
        version: z.string().openapi({ description: 'Version of the software.' }),
        schema_version: count.openapi({ description: 'Version of the database’s schema.' }),
        database: z.enum(['sqlite', 'postgres']).openapi({ description: 'What the data are in.' }),
        process: z.string().openapi({ description: 'Id of the process that answers.' }),
        processes: count.openapi({ description: 'Processes on the database that are alive.' }),
        started_at: timestamp.openapi({ description: 'When the process that answers was started.' }),
        uptime_seconds: count.openapi({ description: 'Seconds since then.' }),
      })
      .openapi({ description: 'The service.' }),
    health: z
      .object({
        status: z.enum(['ok', 'unavailable']).openapi({ description: 'Whether all checks are `ok`.' }),
        checks,
      })
      .openapi({ description: 'As `GET /readyz` answers.' }),
    queues: z.array(queue).openapi({ description: 'What waits.' }),
    providers: z.array(provider).openapi({ description: 'The providers of models.' }),
    models: z.array(model).openapi({ description: 'The models of the catalogue.' }),
    catalogue,
    refunds: z.array(refund).openapi({ description: 'The oldest refunds that are not paid, at most 100.' }),
    webhooks: z
      .object({
        webhooks: count.openapi({ description: 'All webhooks.' }),
        disabled: count.openapi({ description: 'Those that are disabled.' }),
        failing: count.openapi({ description: 'Those in force whose newest attempt failed.' }),
        waiting: count.openapi({ description: 'Messages that are to be sent.' }),
        due: count.openapi({ description: 'Those of them whose time has come.' }),
      })
      .openapi({ description: 'Webhooks of all callers, counted.' }),
    log,
  })
  .openapi('OperatorOverview', { description: 'How the whole service is.' });
