import { setTimeout } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '../../packages/server/test/tcp-proxy.ts';
import { type Env, residentMiB, type Served, serve } from '../process.ts';

/** One of the service's processes, which reaches the database through proxies of its own. */
interface Member {
  /** One for each server of the database. */
  readonly proxies: readonly TcpProxy[];
  readonly env: Env;
  /** Null while it is being started. */
  served: Served | null;
}

/** Processes of one service, which are started again when they end, as an operator's supervisor does. */
export class Fleet {
  readonly #members: Member[] = [];
  readonly #starting = new Set<Promise<void>>();
  #closed = false;
  /** Called with the address of each process that has become ready. */
  onReady: (url: string) => void = () => undefined;

  /** @param env of each process; the servers of its database are reached by proxies */
  async start({ TALLY_DATABASE_URL: database = '', ...env }: Env, size: number): Promise<void> {
    for (let made = 0; made < size; made += 1) {
      const ports = [...database.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
      const proxies = await Promise.all(ports.map(startTcpProxy));
      const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`);
      const url = database.replace(/127\.0\.0\.1:\d+/g, () => hosts.shift() ?? '');
      const member: Member = { proxies, env: { ...env, TALLY_DATABASE_URL: url }, served: null };
      this.#members.push(member);
      await this.#serve(member);
    }
  }

  get size(): number {
    return this.#members.length;
  }

  /** The addresses of the processes that are there, stopped ones too. */
  get urls(): string[] {
    return this.#members.flatMap(({ served }) => served?.url ?? []);
  }

  /** Megabytes of memory of each process that is there. */
  get memory(): number[] {
    return this.#members.flatMap(({ served }) =>
      served === null ? [] : Math.round(residentMiB(served.pid)),
    );
  }

  /** Ends a process by a signal, and starts another in its place. */
  async end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const member = this.#member(index);
    const { served } = member;
    if (served === null) return;
    member.served = null;
    const ended = served.kill(signal);
    // One that stands still would never hear of it.
    process.kill(served.pid, 'SIGCONT');
    // One that drains answers until it is through; another takes its place at once.
    await this.#serve(member);
    await ended;
  }

  /** A process does nothing for a time. */
  async freeze(index: number, ms: number): Promise<void> {
    const member = this.#member(index);
    const { served } = member;
    if (served === null) return;
    // It may be ended meanwhile by another trouble.
    const isThere = (): boolean => member.served === served;
    process.kill(served.pid, 'SIGSTOP');
    await setTimeout(ms);
    if (isThere()) process.kill(served.pid, 'SIGCONT');
  }

  /** What a process sends to the database vanishes for a time, and what the database sends to it. */
  async cutOff(index: number, ms: number): Promise<void> {
    const { proxies } = this.#member(index);
    for (const proxy of proxies) {
      proxy.fate = 'swallow';
      proxy.blackHole();
    }
    await setTimeout(ms);
    for (const proxy of proxies) {
      proxy.fate = 'forward';
      // As a firewall that has forgotten a connection: it is reset once something is sent on it.
      proxy.cut();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await Promise.all(this.#members.flatMap(({ served }) => served?.kill('SIGKILL') ?? []));
    await Promise.all(this.#members.flatMap(({ proxies }) => proxies.map((proxy) => proxy.stop())));
  }

  #member(index: number): Member {
    const member = this.#members[index];
    if (member === undefined) throw new RangeError(`There is no process ${index}.`);
    return member;
  }

  /** Starts a process until it is ready: the database or the chain may be away meanwhile. */
  async #serve(member: Member): Promise<void> {
    const start = async (): Promise<void> => {
      while (!this.#closed && member.served === null) {
        const served = await serve(member.env).catch(() => null);
        if (served === null) await setTimeout(500);
        else {
          member.served = served;
          this.onReady(served.url);
        }
      }
    };
    const started = start();
    this.#starting.add(started);
    await started;
    this.#starting.delete(started);
  }
}
