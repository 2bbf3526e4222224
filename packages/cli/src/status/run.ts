import { setTimeout } from 'node:timers/promises';
import { formatTimestamp, TallyError } from '@tallystick/core';
import { EXIT, type Exit, print, printJson, remark } from '../output.ts';
import { type FetchStatusOptions, fetchStatus, type Standing, type StatusReading } from './fetch-status.ts';
import { statusLines } from './table.ts';

export interface StatusOptions extends FetchStatusOptions {
  readonly watch?: boolean;
  /** Seconds between two requests. */
  readonly every: number;
  readonly json?: boolean;
}

/** Standings that no later document can put right. */
const FINAL: ReadonlySet<Standing> = new Set(['invalid', 'other_issuer', 'rolled_back', 'forked']);

/** Shows a service's status once, or with `watch` until it contradicts itself. */
export async function runStatus(options: StatusOptions): Promise<Exit> {
  const { watch = false, every } = options;
  for (;;) {
    const found = await lookNow(options, watch);
    if (found !== null) {
      printStatus(found, options);
      if (!watch || (found.verified !== null && FINAL.has(found.verified.standing))) return exitOf(found);
    }
    await setTimeout(every * 1000);
  }
}

/** Fetches the status; null if the service could not be reached, and `again` allows another attempt. */
async function lookNow(options: FetchStatusOptions, again: boolean): Promise<StatusReading | null> {
  try {
    return await fetchStatus(options);
  } catch (error) {
    if (!again || !(error instanceof TallyError) || error.code !== 'unavailable') throw error;
    remark(`${formatTimestamp(Date.now())}  ${error.message} Trying again later.`);
    return null;
  }
}

function exitOf({ report, verified }: StatusReading): Exit {
  if (verified !== null && verified.standing !== 'current') return EXIT.failed;
  if (verified !== null && !verified.verdict.issuer.trusted) return EXIT.untrusted;
  return report.endpoints.some(({ state }) => state === 'down') ? EXIT.failed : EXIT.ok;
}

function printStatus(found: StatusReading, { url, json, watch }: StatusOptions): void {
  const { report, verified } = found;
  if (json === true) {
    const seen = { at: formatTimestamp(Date.now()), url, ...account(found), status: report };
    return watch === true ? print(JSON.stringify(seen)) : printJson(seen);
  }
  print(statusLines(url, found, Date.now()).join('\n'));
  for (const { from, reason } of verified?.refused ?? [])
    remark(`The saved bundle of ${from} was not used. ${reason}`);
}

/** Members of the JSON that say whether it was verified, and with what result. */
function account({ verified }: StatusReading): Record<string, unknown> {
  if (verified === null) return { verified: false };
  const { verdict, standing } = verified;
  const { valid, issuer, checks } = verdict;
  return { verified: true, standing, valid, trusted: issuer.trusted, checks };
}
