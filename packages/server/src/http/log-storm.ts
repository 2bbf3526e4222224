import type { Logger } from 'pino';

/** How loud a kind of line is, and how many of it are written before the rest is only counted. */
interface Kind {
  readonly level: 'info' | 'warn' | 'error';
  readonly burst: number;
}

/** Keeps floods out of the log: of each kind of line the first few of a while are written, and the rest is one line. */
export interface LogStorms {
  /** Whether the line is written. One that is not is counted in a line at the end of the while. */
  admits(name: string, kind: Kind): boolean;
}

interface Storm extends Kind {
  lines: number;
}

const WHILE_MS = 10_000;
/** More kinds at once than routes times codes would be a fault of ours; they share one count. */
const MAX_KINDS = 2_000;
const REST = '(others)';

export function createLogStorms(logger: Logger, whileMs = WHILE_MS): LogStorms {
  const storms = new Map<string, Storm>();
  const end = (name: string): void => {
    const storm = storms.get(name);
    storms.delete(name);
    if (storm === undefined || storm.lines <= storm.burst) return;
    const more = { kind: name, count: storm.lines - storm.burst, seconds: whileMs / 1_000 };
    logger[storm.level](more, 'more lines of this kind were left out');
  };
  return {
    admits(asked, { level, burst }) {
      const name = storms.has(asked) || storms.size < MAX_KINDS ? asked : REST;
      let storm = storms.get(name);
      if (storm === undefined) {
        storm = { level, burst, lines: 0 };
        storms.set(name, storm);
        setTimeout(end, whileMs, name).unref();
      }
      storm.lines += 1;
      return storm.lines <= burst;
    },
  };
}
