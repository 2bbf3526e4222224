import type { DeliveryRow, WebhookMark, WebhookMessage, WebhookRow, WebhookStore } from '@tallystick/callers';
import { all, run, type Work } from './database-work.ts';
import type { Queries } from './queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A {@link WebhookStore} on a SQL database. */
export class SqlWebhookStore implements WebhookStore {
  readonly #database: SqlDatabase;
  readonly #queries: Queries;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#queries = database.queries;
  }

  put(row: WebhookRow, most: number): ReturnType<WebhookStore['put']> {
    return this.#database.transaction(() => put(this.#queries, row, most));
  }

  async get(owner: string, id: string): Promise<WebhookRow | null> {
    const [row] = await this.#database.read(all(this.#queries.webhookOf, { owner, id }));
    return (row ?? null) as WebhookRow | null;
  }

  async list(owner: string): Promise<WebhookRow[]> {
    return (await this.#database.read(all(this.#queries.webhooksOf, { owner }))) as WebhookRow[];
  }

  change(...[owner, id, of]: Parameters<WebhookStore['change']>): ReturnType<WebhookStore['change']> {
    return this.#database.transaction(() => changeWebhook(this.#queries, owner, id, of));
  }

  rotate(...[owner, id, secret]: Parameters<WebhookStore['rotate']>): ReturnType<WebhookStore['rotate']> {
    return this.#database.transaction(() => rotate(this.#queries, { owner, id, ...secret }));
  }

  remove(owner: string, id: string): Promise<boolean> {
    return this.#database.transaction(() => remove(this.#queries, owner, id));
  }

  emit(message: WebhookMessage, owner: string | null, mark?: WebhookMark): Promise<void> {
    return this.#database.transaction(() => emit(this.#queries, message, owner, mark));
  }

  async emitTo(message: WebhookMessage, webhook: string): Promise<boolean> {
    const delivery = { ...message, webhook };
    return (await this.#database.transaction(() => run(this.#queries.tellOne, delivery))) === 1;
  }

  async mark(name: string): Promise<string | null> {
    const [row] = await this.#database.read(all(this.#queries.webhookMark, { name }));
    return row?.value ?? null;
  }

  setMark(mark: WebhookMark): Promise<boolean> {
    return this.#database.transaction(() => setMark(this.#queries, mark));
  }

  async owners(type: string, after: string, limit: number): Promise<string[]> {
    const page = { pattern: patternOf(type), after, limit };
    const rows = await this.#database.read(all(this.#queries.webhookOwners, page));
    return rows.map(({ owner }) => owner);
  }

  async take(now: number, until: number): Promise<WebhookRow | null> {
    for (;;) {
      const [row] = await this.#database.read(all(this.#queries.dueWebhook, { now }));
      if (row === undefined) return null;
      const lease = { id: row.id, now, until };
      const leased = await this.#database.transaction(() => run(this.#queries.leaseWebhook, lease));
      if (leased === 1) return row as WebhookRow;
    }
  }

  async due(webhook: string, now: number, limit: number): Promise<DeliveryRow[]> {
    const rows = await this.#database.read(all(this.#queries.dueDeliveries, { webhook, now, limit }));
    return rows as DeliveryRow[];
  }

  attempted(...[result, webhook]: Parameters<WebhookStore['attempted']>): Promise<boolean> {
    return this.#database.transaction(() => attempted(this.#queries, result, webhook));
  }

  async release(webhook: string, until: number): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.releaseWebhook, { id: webhook, until }));
  }

  async deliveries(
    webhook: string,
    { from, before, limit }: Parameters<WebhookStore['deliveries']>[1],
  ): Promise<DeliveryRow[]> {
    const page = { webhook, from, ...before, limit };
    return (await this.#database.read(all(this.#queries.pageOfDeliveries, page))) as DeliveryRow[];
  }

  repeat(webhook: string, message: string, now: number): Promise<boolean> {
    return this.#database.transaction(() => repeat(this.#queries, webhook, message, now));
  }

  async count(now: number): ReturnType<WebhookStore['count']> {
    const [row] = await this.#database.read(all(this.#queries.countWebhooks, { now }));
    return row ?? { webhooks: 0, disabled: 0, failing: 0, waiting: 0, due: 0 };
  }

  purge(before: number, limit: number): Promise<number> {
    return this.#database.transaction(() => run(this.#queries.purgeDeliveries, { before, limit }), 'relaxed');
  }
}

const patternOf = (type: string): string => `% ${type} %`;

function* put(queries: Queries, row: WebhookRow, most: number): Work<'stored' | 'too_many'> {
  yield* run(queries.holdMark, { name: `owner:${row.owner}` });
  const others = yield* all(queries.webhooksOf, { owner: row.owner });
  if (others.length >= most) return 'too_many';
  yield* run(queries.insertWebhook, row);
  return 'stored';
}

function* changeWebhook(
  queries: Queries,
  owner: string,
  id: string,
  of: Parameters<WebhookStore['change']>[2],
): Work<WebhookRow | null> {
  const [row] = (yield* all(queries.lockWebhook, { id })) as WebhookRow[];
  if (row?.owner !== owner) return null;
  const changed = { ...row, ...of(row) };
  yield* run(queries.changeWebhook, changed);
  if (changed.disabledAt !== null) yield* run(queries.dropWaiting, { id });
  return changed;
}

function* rotate(
  queries: Queries,
  rotated: Pick<WebhookRow, 'owner' | 'id' | 'secret'> & { readonly previousUntil: number },
): Work<WebhookRow | null> {
  if ((yield* run(queries.rotateWebhook, rotated)) === 0) return null;
  const [row] = yield* all(queries.webhookOf, rotated);
  return (row ?? null) as WebhookRow | null;
}

function* remove(queries: Queries, owner: string, id: string): Work<boolean> {
  if ((yield* run(queries.removeWebhook, { owner, id })) === 0) return false;
  yield* run(queries.removeDeliveries, { id });
  return true;
}

function* emit(
  queries: Queries,
  message: WebhookMessage,
  owner: string | null,
  mark: WebhookMark | undefined,
): Work<void> {
  if (mark !== undefined && !(yield* setMark(queries, mark))) return;
  const told = { ...message, pattern: patternOf(message.type) };
  if (owner === null) yield* run(queries.tellAll, told);
  else yield* run(queries.tellOwner, { ...told, owner });
}

function* setMark(queries: Queries, mark: WebhookMark): Work<boolean> {
  const statement = mark.from === null ? queries.insertMark : queries.replaceMark;
  return (yield* run(statement, mark)) === 1;
}

/** The webhook is locked, so that one which is disabled meanwhile has nothing waiting. */
function* repeat(queries: Queries, webhook: string, message: string, now: number): Work<boolean> {
  yield* all(queries.lockWebhook, { id: webhook });
  return (yield* run(queries.repeatDelivery, { webhook, message, now })) === 1;
}

/** The webhook is locked before its deliveries, as in the other transactions. */
function* attempted(
  queries: Queries,
  result: Parameters<WebhookStore['attempted']>[0],
  follows: Parameters<WebhookStore['attempted']>[1],
): Work<boolean> {
  const id = result.webhook;
  yield* all(queries.lockWebhook, { id });
  if ((yield* run(queries.moveDelivery, { ...result, before: result.attempts - 1 })) === 0) return false;
  yield* run(queries.markWebhook, { id, ...follows });
  if (follows.disabledAt !== null) yield* run(queries.dropWaiting, { id });
  return true;
}
