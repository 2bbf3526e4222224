import type {
  DeliveryPlace,
  DeliveryResult,
  WebhookChange,
  WebhookCounts,
  WebhookMark,
  WebhookMessage,
  WebhookRow,
} from '@tallystick/callers';
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';

/** The statements about webhooks that all databases share. Those that write run inside a transaction. */
export function webhookQueries(db: Compiler, { forUpdate, skipLocked }: Dialect) {
  const webhooks = db
    .selectFrom('webhooks')
    .select([
      'id',
      'owner',
      'url',
      'events',
      'secret',
      'previous_secret as previousSecret',
      'previous_until as previousUntil',
      'created_at as createdAt',
      'disabled_at as disabledAt',
      'disabled_because as disabledBecause',
      'failing_since as failingSince',
    ]);
  const deliveries = db
    .selectFrom('webhook_deliveries')
    .select([
      'webhook',
      'message',
      'type',
      'body',
      'at',
      'state',
      'attempts',
      'due_at as dueAt',
      'last_at as lastAt',
      'status',
      'problem',
      'took',
    ]);
  const insertDeliveries = (v: WebhookMessage, condition: RawBuilder<unknown>): ReturnType<typeof raw> =>
    raw(
      db,
      sql`
        insert into webhook_deliveries (webhook, message, type, body, at, state, attempts, due_at)
        select id, ${text(v.id)}, ${text(v.type)}, ${text(v.body)}, ${integer(v.at)}, 'waiting', 0, ${integer(v.at)}
        from webhooks where disabled_at is null and ${condition}
        on conflict (webhook, message) do nothing`,
    );
  return {
    webhooksOf: statement((v: { owner: string }) =>
      webhooks.where('owner', '=', v.owner).orderBy('created_at', 'desc').orderBy('id', 'desc'),
    ),
    webhookOf: statement((v: { owner: string; id: string }) =>
      webhooks.where('id', '=', v.id).where('owner', '=', v.owner),
    ),
    insertWebhook: statement((v: WebhookRow) =>
      db.insertInto('webhooks').values({
        id: v.id,
        owner: v.owner,
        url: v.url,
        events: v.events,
        secret: v.secret,
        previous_secret: v.previousSecret,
        previous_until: v.previousUntil,
        created_at: v.createdAt,
        disabled_at: v.disabledAt,
        disabled_because: v.disabledBecause,
        failing_since: v.failingSince,
      }),
    ),
    changeWebhook: statement((v: WebhookChange & Pick<WebhookRow, 'id' | 'owner'>) =>
      db
        .updateTable('webhooks')
        .set({
          url: v.url,
          events: v.events,
          disabled_at: v.disabledAt,
          disabled_because: v.disabledBecause,
          failing_since: v.failingSince,
        })
        .where('id', '=', v.id)
        .where('owner', '=', v.owner),
    ),
    rotateWebhook: statement(
      (v: Pick<WebhookRow, 'owner' | 'id' | 'secret'> & { readonly previousUntil: number }) =>
        raw(
          db,
          sql`
            update webhooks set previous_secret = secret, previous_until = ${v.previousUntil}, secret = ${v.secret}
            where id = ${v.id} and owner = ${v.owner}`,
        ),
    ),
    removeWebhook: statement((v: { owner: string; id: string }) =>
      db.deleteFrom('webhooks').where('id', '=', v.id).where('owner', '=', v.owner),
    ),
    removeDeliveries: statement((v: { id: string }) =>
      db.deleteFrom('webhook_deliveries').where('webhook', '=', v.id),
    ),
    dropWaiting: statement((v: { id: string }) =>
      db
        .updateTable('webhook_deliveries')
        .set({ state: sql.lit('failed'), due_at: sql`null`, problem: sql.lit('The webhook was disabled.') })
        .where('webhook', '=', v.id)
        .where('due_at', 'is not', null),
    ),
    tellOwner: statement((v: WebhookMessage & { owner: string; pattern: string }) =>
      insertDeliveries(v, sql`owner = ${v.owner} and ' ' || events || ' ' like ${v.pattern}`),
    ),
    tellAll: statement((v: WebhookMessage & { pattern: string }) =>
      insertDeliveries(v, sql`' ' || events || ' ' like ${v.pattern}`),
    ),
    tellOne: statement((v: WebhookMessage & { webhook: string }) =>
      insertDeliveries(v, sql`id = ${v.webhook}`),
    ),
    webhookOwners: statement((v: { pattern: string; after: string; limit: number }) =>
      db
        .selectFrom('webhooks')
        .select('owner')
        .distinct()
        .where('disabled_at', 'is', null)
        .where(sql<boolean>`' ' || events || ' ' like ${v.pattern}`)
        .where('owner', '>', v.after)
        .orderBy('owner')
        .limit(v.limit),
    ),
    webhookMark: statement((v: { name: string }) =>
      db.selectFrom('webhook_marks').select('value').where('name', '=', v.name),
    ),
    insertMark: statement((v: { name: string; to: string }) =>
      db
        .insertInto('webhook_marks')
        .values({ name: v.name, value: v.to })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    replaceMark: statement((v: WebhookMark) =>
      db
        .updateTable('webhook_marks')
        .set({ value: v.to })
        .where('name', '=', v.name)
        .where('value', '=', v.from),
    ),
    /** Keeps others who hold the same name out until the transaction ends. */
    holdMark: statement((v: { name: string }) =>
      raw(
        db,
        sql`insert into webhook_marks (name, value) values (${v.name}, '') on conflict (name) do update set value = excluded.value`,
      ),
    ),
    dueWebhook: statement((v: { now: number }) =>
      webhooks
        .innerJoin('webhook_deliveries', 'webhook', 'id')
        .where('disabled_at', 'is', null)
        .where('lease_until', '<=', v.now)
        .where('due_at', '<=', v.now)
        // Receivers that never answer hold up nobody else's messages.
        .orderBy((one) => one('failing_since', 'is not', null))
        .orderBy('due_at')
        .limit(sql.lit(1)),
    ),
    leaseWebhook: statement((v: { id: string; now: number; until: number }) =>
      db
        .updateTable('webhooks')
        .set({ lease_until: v.until })
        .where('id', '=', v.id)
        .where('lease_until', '<=', v.now),
    ),
    releaseWebhook: statement((v: { id: string; until: number }) =>
      db
        .updateTable('webhooks')
        .set({ lease_until: sql.lit(0) })
        .where('id', '=', v.id)
        .where('lease_until', '=', v.until),
    ),
    dueDeliveries: statement((v: { webhook: string; now: number; limit: number }) =>
      deliveries
        .where('webhook', '=', v.webhook)
        .where('due_at', '<=', v.now)
        .orderBy('due_at')
        .orderBy('message')
        .limit(v.limit),
    ),
    lockWebhook: statement((v: { id: string }) => webhooks.where('id', '=', v.id).modifyEnd(forUpdate)),
    moveDelivery: statement((v: DeliveryResult & { before: number }) =>
      db
        .updateTable('webhook_deliveries')
        .set({
          state: v.state,
          attempts: v.attempts,
          due_at: v.dueAt,
          last_at: v.lastAt,
          status: v.status,
          problem: v.problem,
          took: v.took,
        })
        .where('webhook', '=', v.webhook)
        .where('message', '=', v.message)
        .where('attempts', '=', v.before)
        .where('due_at', 'is not', null),
    ),
    repeatDelivery: statement((v: { webhook: string; message: string; now: number }) =>
      db
        .updateTable('webhook_deliveries')
        .set({ state: sql.lit('waiting'), attempts: sql.lit(0), due_at: v.now })
        .where('webhook', '=', v.webhook)
        .where('message', '=', v.message)
        .where((row) =>
          row.exists(
            row
              .selectFrom('webhooks')
              .select('id')
              .where('id', '=', v.webhook)
              .where('disabled_at', 'is', null),
          ),
        ),
    ),
    markWebhook: statement((v: Pick<WebhookRow, 'id' | 'failingSince' | 'disabledAt' | 'disabledBecause'>) =>
      db
        .updateTable('webhooks')
        .set({
          failing_since: v.failingSince,
          disabled_at: v.disabledAt,
          disabled_because: v.disabledBecause,
        })
        .where('id', '=', v.id)
        .where('disabled_at', 'is', null),
    ),
    pageOfDeliveries: statement((v: DeliveryPlace & { webhook: string; from: number; limit: number }) =>
      deliveries
        .where('webhook', '=', v.webhook)
        .where('at', '>=', v.from)
        .where((row) => row(row.refTuple('at', 'message'), '<', row.tuple(v.at, v.id)))
        .orderBy('at', 'desc')
        .orderBy('message', 'desc')
        .limit(v.limit),
    ),
    countWebhooks: statement((v: { now: number }) =>
      raw<WebhookCounts>(
        db,
        sql`
          select count(*) as webhooks, count(disabled_at) as disabled,
            count(case when disabled_at is null then failing_since end) as failing,
            (select count(*) from webhook_deliveries where due_at is not null) as waiting,
            (select count(*) from webhook_deliveries where due_at <= ${v.now}) as due
          from webhooks`,
      ),
    ),
    purgeDeliveries: statement((v: { before: number; limit: number }) =>
      raw(
        db,
        sql`
          delete from webhook_deliveries where (webhook, message) in (
            select webhook, message from webhook_deliveries where at < ${v.before} limit ${v.limit} ${skipLocked})`,
      ),
    ),
  };
}

const text = (value: string): RawBuilder<unknown> => sql`cast(${value} as text)`;
const integer = (value: number): RawBuilder<unknown> => sql`cast(${value} as bigint)`;
