/** Where lines go: a logger of pino, for example. */
type LeveledLog = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

/** The level of a kind of line, and how many are written before the rest is only counted. */
interface Kind {
  readonly level: 'info' | 'warn' | 'error';
  readonly burst: number;
}

/**
 * Keeps floods out of the log: of each kind of line the first few in an interval are written, and one more line counts
 * the rest.
 */
export interface LogStorms {
  /** Whether the line is written. A line that is not is counted at the end of the interval. */
  admits(name: string, kind: Kind): boolean;
}

interface Storm extends Kind {
  lines: number;
}

const WHILE_MS = 10_000;
/** More kinds than this would be a fault of ours, since there are only routes times codes; they share one count. */
const MAX_KINDS = 2_000;
const REST = '(others)';

export function createLogStorms(logger: LeveledLog, whileMs = WHILE_MS): LogStorms {
  const storms = new Map<string, Storm>();
  const end = (name: string): void => {
    const storm = storms.get(name);
    storms.delete(name);
    if (storm === undefined || storm.lines <= storm.burst) return;
    const more = { kind: name, count: storm.lines - storm.burst, seconds: whileMs / 1_000 };
    logger[storm.level](more, 'more lines of this kind were left out');
  };
  return {
    admits(logKind, { level, burst }) {
      const name = storms.has(logKind) || storms.size < MAX_KINDS ? logKind : REST;
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
