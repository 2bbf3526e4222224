import { type ChainReader, openChainReader, rawDecoder } from '@tallystick/chain';
import {
  asUsage,
  EXIT,
  type Exit,
  leavesText,
  noRpcUrl,
  ProgressLine,
  paint,
  print,
  printable,
  printJson,
  showCheckpoint,
  UsageError,
} from '@tallystick/cli/toolkit';
import { fromBase64url, type LogKey, openCheckpoint, TallyError } from '@tallystick/core';
import { recordedAnchors } from '@tallystick/issuers';
import { type FsckReport, fsckLog, type WitnessFinding } from '@tallystick/log';
import { witnessesOf } from '../app/local-witnesses.ts';
import { openLogStorage, type openStore } from '../app/opening.ts';
import type { Config } from '../config/config.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

type Store = Awaited<ReturnType<typeof openStore>>;

const RPC_TIMEOUT_MS = 15_000;

/** Recomputes the log of the service on this machine, and reports everything that differs. */
export async function fsck({ rpc, json }: { rpc?: string | true; json?: boolean }): Promise<Exit> {
  const config = serviceConfig();
  const chain = rpc === undefined ? null : await openChain(rpc === true ? config.chain.rpcUrl : rpc, config);
  const report = await withLog(config, (store, log) => watchedFsck(store, log, config, chain));
  const { faultCount, ...rest } = report;
  if (json)
    printJson({ ok: faultCount === 0, ...rest, fault_count: faultCount, chain_asked: chain !== null });
  else for (const line of reportLines(report, chain !== null)) print(line);
  return faultCount === 0 ? EXIT.ok : EXIT.failed;
}

/** Prints the newest checkpoint of the service on this machine, if its signature is good. */
export async function checkpoint(json: boolean): Promise<void> {
  await withLog(serviceConfig(), async (store, log) => {
    const newest = await store.log.newestCheckpoint();
    if (newest === null) throw new TallyError('not_found', 'The log has signed no checkpoint yet.');
    showCheckpoint(newest.note, await openCheckpoint(newest.note, log), json);
  });
}

/** @throws UsageError where there is no database, or no log in it */
async function withLog<T>(config: Config, work: (store: Store, log: LogKey) => Promise<T>): Promise<T> {
  requireDatabase(config);
  return withStore(config, async (store) => {
    const { log } = await recordedAnchors(store);
    if (log === null) throw new UsageError('There is no log in this database: no service has used it yet.');
    return work(store, { origin: log.origin, publicKey: fromBase64url(log.public_key, 32) });
  });
}

/** @throws UsageError without a URL, or where the node is of another chain or cannot be asked, which is no fault of the log */
async function openChain(rpcUrl: string | null, { chain: { id, finality } }: Config): Promise<ChainReader> {
  if (rpcUrl === null) throw noRpcUrl();
  try {
    const reader = await openChainReader({ rpcUrl, chainId: id, finality, timeoutMs: RPC_TIMEOUT_MS });
    await reader.check();
    return reader;
  } catch (error) {
    throw asUsage(error);
  }
}

async function watchedFsck(
  store: Store,
  log: LogKey,
  config: Config,
  chain: ChainReader | null,
): Promise<FsckReport> {
  const line = new ProgressLine(process.stderr);
  try {
    return await fsckLog({
      store: store.log,
      log,
      witnesses: witnessesOf(config),
      decodeAttempt: await rawDecoder(),
      storage: (await openLogStorage(config)) ?? undefined,
      ...(chain === null ? {} : { chain: watchedChain(chain, line) }),
      onProgress: (checked, leaves) =>
        line.draw((elapsedMs) => leavesText(checked, elapsedMs, leaves === 0 ? null : checked / leaves)),
    });
  } finally {
    line.end();
  }
}

/** Each posting takes one or more requests to the chain, which can take longer than everything else here. */
function watchedChain(chain: ChainReader, line: ProgressLine): Pick<ChainReader, 'transaction'> {
  let chainNote = 0;
  return {
    async transaction(txHash) {
      chainNote += 1;
      line.draw(() => `asked the chain about ${counted(chainNote, 'posting')}`);
      try {
        return await chain.transaction(txHash);
      } catch (error) {
        throw asUsage(error);
      }
    },
  };
}

function* reportLines(report: FsckReport, chainAsked: boolean): Generator<string> {
  const { leaves, tiles, checkpoints, postings, files, witnesses, faults, faultCount } = report;
  for (const { where, what } of faults)
    yield `${paint('red', '✗')} ${paint('bold', printable(where))}: ${printable(what)}`;
  if (faultCount > faults.length) yield `… and ${faultCount - faults.length} more`;
  for (const witness of witnesses) yield `– ${witnessText(witness)}`;
  const read = [
    counted(leaves, 'leaf', 'leaves'),
    counted(tiles, 'tile'),
    counted(checkpoints, 'checkpoint'),
    counted(postings, 'posting'),
    ...(files === 0 ? [] : [counted(files, 'file')]),
  ].join(', ');
  const chainNote = chainAsked ? 'The chain was asked.' : 'The chain was not asked (--rpc).';
  yield faultCount === 0
    ? `${paint('green', '✓ Sound')}: ${read}. ${chainNote}`
    : `${paint('red', '✗ Not sound')}: ${counted(faultCount, 'fault')} in ${read}. ${chainNote}`;
}

function witnessText({ name, key_id, standing, checkpoints, newest }: WitnessFinding): string {
  const signed = `${counted(checkpoints, 'checkpoint')}, the newest of ${counted(newest, 'leaf', 'leaves')}`;
  const who = paint('bold', printable(name));
  if (standing === 'unknown')
    return `${who} (key ${key_id}, unknown) signed ${signed}. Its key is not known here, so it was not checked; this is not a fault.`;
  return `${who} (${standing === 'former' ? 'a former witness' : 'witness'}) cosigned ${signed}.`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
